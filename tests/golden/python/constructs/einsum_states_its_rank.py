# run: [go(each(64, 4), x(2, 8, 64)) for each in (Rank, Parts, Words)]
# breaks: fp32-buffers, bf16
# products: half
import torch
import torch.nn as nn
from einops import einsum as named_einsum
from torch import einsum


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.bias = nn.Parameter(torch.zeros(8, 8))

    def operands(self, x):
        return self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4).unbind(0)


class Rank(Attention):
    """The result has dimensions, so a half parameter does not make it half again."""

    def forward(self, x):
        q, k, v = self.operands(x)
        scores = einsum("bhid,bhjd->bhij", q, k)
        scores = scores.float() + self.bias  # expect: attention-mixed-dtypes  #! bad
        scores = scores + self.bias.to(scores.dtype)  #! ok
        return einsum("... i j, ... j d -> ... i d", scores.softmax(dim=-1), v)


class Parts(Attention):
    """An equation that is put together."""

    def forward(self, x):
        q, k, v = self.operands(x)
        keys = "b j d" if k.ndim == 3 else "b h j d"
        scores = einsum(f"b h i d, {keys} -> b h i j", q, k)
        scores = scores.float()  # expect: attention-mixed-dtypes  #! bad
        return einsum(f"b h i j, {keys} -> b h i d", scores.softmax(dim=-1), v)


class Words(Attention):
    def forward(self, x):
        q, k, v = self.operands(x)
        scores = named_einsum(q, k, "batch heads i d, batch heads j d -> batch heads i j")
        scores = scores.float() + self.bias  # expect: attention-mixed-dtypes  #! bad
        scores = scores + self.bias.to(scores.dtype)  #! ok
        return named_einsum(scores.softmax(dim=-1), v, "batch heads i j, batch heads j d -> batch heads i d")
