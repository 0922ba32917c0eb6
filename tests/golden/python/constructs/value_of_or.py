# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
from typing import Optional
import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    """`a or b` is b where a is None, and `a and b` is b where a is true."""

    def __init__(self, dim, dtype: Optional[torch.dtype] = None):
        super().__init__()
        self.told, self.qkv = dtype, nn.Linear(dim, dim * 3)

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        told = getattr(self, "other", None) or q.dtype
        q = q.float().to(told)
        q = q.float().to(q is not None and v.dtype)
        k = (k.float() * 2)  # expect: attention-mixed-dtypes  #! bad
        k = (k.float() * 2).to(getattr(self, "dtype", None) or k.dtype)  #! ok
        return F.scaled_dot_product_attention(q, k, v)
