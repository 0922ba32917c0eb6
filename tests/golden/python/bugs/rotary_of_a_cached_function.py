# run: go(Encoder(4, 64, layers=2), x(2, 8, 64))
# breaks: fp32-buffers, bf16, autocast
from functools import lru_cache

import torch
import torch.nn as nn
from flash_attn import flash_attn_varlen_func


@lru_cache(maxsize=8)
def rotation(length, dim, base, device):
    angles = torch.arange(length, device=device)[:, None] * base ** (-torch.arange(0, dim, 2, device=device) / dim)
    return torch.stack((angles.cos(), angles.sin()))


class Layer(nn.Module):
    def __init__(self, heads, width):
        super().__init__()
        self.heads = heads
        self.wqkv = nn.Linear(width, width * 3)
        self.out = nn.Linear(width, width)

    def rotate(self, t, table):
        cos, sin = table.unsqueeze(-2)  #! bad
        cos, sin = table.to(t.dtype).unsqueeze(-2)  #! ok
        even, odd = t[..., ::2], t[..., 1::2]
        return torch.cat((even * cos - odd * sin, even * sin + odd * cos), -1)  # expect: attention-implicit-promotion

    def forward(self, x, lengths, table):
        q, k, v = self.wqkv(x).view(x.shape[0], 3, self.heads, -1).unbind(1)
        q, k = self.rotate(q, table), self.rotate(k, table)
        longest = x.shape[0]
        return self.out(flash_attn_varlen_func(q, k, v, lengths, lengths, longest, longest).flatten(1))


class Encoder(nn.Module):
    def __init__(self, heads, width, layers, base=10000.0):
        super().__init__()
        self.head_dim, self.base = width // heads, base
        self.layers = nn.ModuleList([Layer(heads, width) for _ in range(layers)])

    def forward(self, x):
        batch, length, _ = x.shape
        lengths = torch.zeros(batch + 1, dtype=torch.int32, device=x.device)
        table = rotation(length, self.head_dim, self.base, x.device)
        x = x.flatten(0, 1)
        table = table.repeat(1, batch, 1)
        for layer in self.layers:
            x = x + layer(x, lengths, table)
        return x.unflatten(0, (batch, length))
