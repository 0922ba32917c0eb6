# run: go(Attention(64), x(2, 8, 4, 64))
# breaks: fp32-buffers, autocast
import torch
from torch import nn
from flash_attn import flash_attn_func


class Scale(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("table", torch.full((dim,), 0.5))

    def forward(self, x):
        return x * self.table  # expect: attention-implicit-promotion  #! bad
        return x * self.table.to(x.dtype)  #! ok


class Attention(nn.Module):
    """What says how a module is trained gives the module back."""

    def __init__(self, dim):
        super().__init__()
        self.scale = Scale(dim).eval().requires_grad_(False)

    def forward(self, x: torch.Tensor):
        self.scale = self.scale.train()
        return flash_attn_func(self.scale(x), x, x)
