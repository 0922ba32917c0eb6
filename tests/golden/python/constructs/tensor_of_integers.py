# run: go(Attention(64, 10), ids(2, 8), x(2, 8, 4, 64))
# breaks: fp32-buffers, autocast
import torch
from torch import nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    """What is annotated with a tensor of integers is there; of what it is, is not taken from that."""

    def __init__(self, dim, positions):
        super().__init__()
        self.register_buffer("table", torch.full((positions, 1, dim), 0.5))

    def forward(self, where: torch.LongTensor, x: torch.Tensor):
        if where is None:
            raise ValueError("no positions")
        q = x
        if where.size(1) > 4:
            q = x * self.table[where]  # expect: attention-implicit-promotion  #! bad
            q = x * self.table[where].to(x.dtype)  #! ok
        return flash_attn_func(q, x * where.to(x.dtype)[..., None, None], x)
