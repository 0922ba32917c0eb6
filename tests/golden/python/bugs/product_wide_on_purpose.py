# run: go(Attention(64, 4, 32), x(2, 8, 64))
# breaks: fp32-buffers, bf16
# products: wide
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, dim, heads, length):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(dim, dim * 3), nn.Linear(dim, dim)
        angles = torch.outer(torch.arange(length).float(), 100.0 ** -torch.linspace(0, 1, dim // heads // 2))
        self.register_buffer("table", torch.cat((angles.cos(), angles.sin()), dim=-1), persistent=False)

    def turn(self, x):
        cos, sin = self.table[: x.shape[2]].chunk(2, dim=-1)
        first, second = x.chunk(2, dim=-1)
        return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        q, k = self.turn(q), self.turn(k)
        q = q.to(torch.float32)  # expect: attention-mixed-dtypes
        k = k.to(torch.float32)
        weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)
        weights = weights.contiguous()  #! bad
        weights = weights.to(v.dtype)  #! ok
        return self.out(torch.matmul(weights, v).transpose(1, 2).flatten(2))
