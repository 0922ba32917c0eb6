# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, autocast
# fixed: yes
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


def swap(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


class Tables(nn.Module):
    """Both tables are views of what one tensor of angles gave."""

    def __init__(self, dim, length=32):
        super().__init__()
        steps = torch.arange(length).float()[:, None] * 100.0 ** -torch.linspace(0, 1, dim // 2)[None, :]
        angles = torch.cat((steps, steps), dim=-1)
        self.register_buffer("cos_table", angles.cos()[None, :, None, :], persistent=False)
        self.register_buffer("sin_table", angles.sin()[None, :, None, :], persistent=False)

    def forward(self, x):
        n = x.shape[1]
        cos, sin = self.cos_table[:, :n], self.sin_table[:, :n]  #! bad
        cos, sin = self.cos_table[:, :n].to(x.dtype), self.sin_table[:, :n].to(x.dtype)  #! ok
        return x * cos + swap(x) * sin  # expect: attention-implicit-promotion


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.tables = Tables(dim // heads)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).unbind(2)
        return flash_attn_func(self.tables(q), self.tables(k), v, causal=True).flatten(2)
