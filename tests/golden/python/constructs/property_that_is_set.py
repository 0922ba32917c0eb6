# run: go(A(64, 4), x(2, 8, 64))
# breaks: fp32-buffers
import torch
import torch.nn as nn
import torch.nn.functional as F


class A(nn.Module):
    """What a property's setter registers, and what the property gives."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.length = 8

    @property
    def length(self):
        return self.table

    @length.setter
    def length(self, count):
        self.register_buffer("table", torch.ones(count, 1, 1), persistent=False)

    @length.deleter
    def length(self):
        self.table = None

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        table = self.length  #! bad
        table = self.length.to(x.dtype)  #! ok
        q = q * table  # expect: attention-implicit-promotion
        return F.scaled_dot_product_attention(q, k, v)
