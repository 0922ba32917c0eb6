# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
import torch
from torch import nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    """What a choice makes on one of its ways holds nothing of the other."""

    def __init__(self, dim, heads, wide: bool = True):
        super().__init__()
        self.heads, self.wide, self.qkv = heads, wide, nn.Linear(dim, dim * 3)

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        if self.wide:
            q = q.float()
            k = k.float()
        q, k = (q.to(v.dtype), k.to(v.dtype)) if q.dtype == torch.float32 else (q, k)
        v = v.float()  # expect: attention-mixed-dtypes  #! bad
        return flash_attn_func(q, k, v)
