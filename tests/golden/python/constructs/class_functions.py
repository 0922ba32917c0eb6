# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F


class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        x = x.float()  # expect: attention-mixed-dtypes
        x = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)
        return x * self.weight.float()  #! bad
        return (x * self.weight.float()).to(self.weight.dtype)  #! ok


class Base(nn.Module):
    attend = staticmethod(partial(F.scaled_dot_product_attention, is_causal=True))
    norm_class = nn.Identity

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm = self.norm_class(dim // heads)
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).transpose(1, 3).unbind(2)
        return self.attend(self.norm(q), k, v)


class Attention(Base):
    norm_class = Norm
