# run: go(Attention(64, 4, 32), x(2, 8, 64), attend=lambda q, k, v: attend(q, v, k))
# breaks: fp32-buffers, autocast
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, dim, heads, length):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        angles = torch.outer(torch.arange(length).float(), 100.0 ** -torch.linspace(0, 1, dim // heads // 2))
        self.register_buffer("cos", torch.cat((angles, angles), dim=-1).cos()[:, None], persistent=False)
        self.register_buffer("sin", torch.cat((angles, angles), dim=-1).sin()[:, None], persistent=False)

    def turn(self, x):
        n = x.shape[1]
        first, second = x.chunk(2, dim=-1)
        turned = x * self.cos[:n] + torch.cat((-second, first), dim=-1) * self.sin[:n]  # expect: rotary-dtype-mismatch
        return turned  #! bad
        return turned.type_as(x)  #! ok

    def forward(self, x, attend):
        q, k, v = (t.unflatten(-1, (self.heads, -1)) for t in self.qkv(x).chunk(3, dim=-1))
        return attend(self.turn(q), self.turn(k), v)
