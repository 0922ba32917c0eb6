# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-b, a), dim=-1) * sin  # expect: attention-mixed-dtypes


def attend(q, k, v):
    if q.dtype != v.dtype:
        raise RuntimeError(f"q and v must have the same dtype, not {q.dtype} and {v.dtype}")
    return flash_attn_func(q, k, v, causal=True)


class Attention(nn.Module):
    def __init__(self, dim, heads, length=16):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        angles = torch.outer(torch.arange(length).float(), 100.0 ** -torch.linspace(0, 1, dim // heads // 2))
        self.register_buffer("cos", angles.cos().repeat(1, 2)[:, None], persistent=False)
        self.register_buffer("sin", angles.sin().repeat(1, 2)[:, None], persistent=False)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).unbind(2)
        cos, sin = self.cos[:n], self.sin[:n]  #! bad
        cos, sin = self.cos[:n].to(x.dtype), self.sin[:n].to(x.dtype)  #! ok
        return attend(rotate(q, cos, sin), rotate(k, cos, sin), v)
