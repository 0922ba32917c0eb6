# run: go(Block(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Gain(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gamma = nn.Parameter(1e-5 * torch.ones(dim))

    def forward(self, x):
        return x * self.gamma  # expect: attention-implicit-promotion  #! bad
        return x * self.gamma.to(x.dtype)  #! ok


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(dim, 3 * dim)
        self.gain = Gain(dim // heads)

    def forward(self, x):
        b, n, d = x.size()
        q, k, v = self.to_qkv(x).reshape(b, n, 3 * self.heads, -1).split(self.heads, dim=2)
        return flash_attn_func(q, k, self.gain(v)).flatten(2)
