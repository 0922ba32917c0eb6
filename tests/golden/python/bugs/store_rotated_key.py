# run: decode(go, x, ids)
# breaks: fp32-buffers, autocast
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim, heads, length=32):
        super().__init__()
        self.heads, self.length = heads, length
        self.qkv = nn.Linear(dim, dim * 3)
        angles = torch.outer(torch.arange(length).float(), 100.0 ** -torch.linspace(0, 1, dim // heads // 2))
        self.register_buffer("cos", angles.cos().repeat(1, 2), persistent=False)
        self.register_buffer("sin", angles.sin().repeat(1, 2), persistent=False)

    def rotate(self, x, pos):
        cos, sin = self.cos[pos], self.sin[pos]  #! bad
        cos, sin = self.cos[pos].to(x), self.sin[pos].to(x)  #! ok
        a, b = x.chunk(2, dim=-1)
        return x * cos + torch.cat((-b, a), dim=-1) * sin  # expect: kv-cache-dtype-mismatch

    def forward(self, x, pos):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        past_k = torch.zeros(b, self.heads, self.length, d // self.heads, dtype=k.dtype)
        past_v = torch.zeros(b, self.heads, self.length, d // self.heads, dtype=v.dtype)
        past_k.index_copy_(2, pos, self.rotate(k, pos))
        past_v.index_copy_(2, pos, v)
        return F.scaled_dot_product_attention(q, past_k, past_v)


def decode(go, x, ids):
    return go(Attention(64, 4), x(2, 3, 64), ids(3))
