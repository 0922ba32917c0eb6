# run: go(A(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16
# products: half
import torch
import torch.nn as nn
from torch import einsum


class A(nn.Module):
    """By position, as a list, and spread."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        scores = einsum(f"b i h d, b j h d -> b h i j", q, k)
        scores = scores + einsum("bihd,bjhd->bhij", [q, k])
        operands = (q, k)
        scores = scores + einsum("bihd,bjhd->bhij", *operands)
        bias = torch.zeros(x.shape[1], x.shape[1], device=x.device)  #! bad
        bias = torch.zeros(x.shape[1], x.shape[1], device=x.device, dtype=x.dtype)  #! ok
        shares = (scores + bias).softmax(dim=-1)  # expect: attention-mixed-dtypes
        return einsum("b h i j, b j h d -> b i h d", shares, v)
