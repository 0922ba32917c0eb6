# run: go(Attention(64, 4, 32), x(2, 8, 64))
# breaks: fp32-buffers
# products: half
import math

import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, dim, heads, length):
        super().__init__()
        self.heads, self.dim_head = heads, dim // heads
        self.qkv, self.out = nn.Linear(dim, dim * 3), nn.Linear(dim, dim)
        angles = torch.outer(torch.arange(length).float(), 100.0 ** -torch.linspace(0, 1, self.dim_head // 2))
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def turn(self, x):
        cos, sin = self.cos[: x.shape[2]], self.sin[: x.shape[2]]
        first, second = x.chunk(2, dim=-1)
        turned = torch.cat((first * cos - second * sin,  # expect: attention-implicit-promotion
                            second * cos + first * sin), dim=-1)
        return turned  #! bad
        return turned.to(x.dtype)  #! ok

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        scores = torch.matmul(self.turn(q), self.turn(k).transpose(-2, -1)) / math.sqrt(self.dim_head)
        weights = torch.softmax(scores, dim=-1).to(v.dtype)
        return self.out(torch.matmul(weights, v).transpose(1, 2).flatten(2))
