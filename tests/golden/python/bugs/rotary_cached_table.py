# run: go(Decoder(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, autocast
import torch
import torch.nn as nn
import torch.nn.functional as F
import xformers.ops as xops


class RotaryTable(nn.Module):
    def __init__(self, dim, max_len=2048):
        super().__init__()
        freqs = torch.outer(torch.arange(max_len).float(), 10000 ** (-torch.arange(0, dim, 2).float() / dim))
        self.register_buffer("cos_cached", freqs.cos().repeat(1, 2))
        self.register_buffer("sin_cached", freqs.sin().repeat(1, 2))

    def forward(self, x, seq_len):
        return self.cos_cached[:seq_len], self.sin_cached[:seq_len]  #! bad
        return self.cos_cached[:seq_len].to(x.dtype), self.sin_cached[:seq_len].to(x.dtype)  #! ok


class Decoder(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.rotary = RotaryTable(dim // heads)

    def rotate(self, x, cos, sin):
        x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
        rotated = torch.cat([-x2, x1], -1)
        return x * cos[:, None] + rotated * sin[:, None]  # expect: attention-implicit-promotion

    def forward(self, hidden):
        b, n, d = hidden.shape
        shape = (b, n, self.heads, d // self.heads)
        q, k, v = self.q_proj(hidden).view(shape), self.k_proj(hidden).view(shape), self.v_proj(hidden).view(shape)
        cos, sin = self.rotary(v, n)
        return xops.memory_efficient_attention(self.rotate(q, cos, sin), self.rotate(k, cos, sin), v)
