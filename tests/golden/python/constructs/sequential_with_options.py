# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Scaled(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x, offset=0, *more):
        out = x * self.weight + offset  # expect: attention-implicit-promotion  #! bad
        out = (x * self.weight + offset).type_as(x)  #! ok
        return out


class A(nn.Module):
    """Layers of a Sequential that may be handed more than one input, and are not."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.q_norm = nn.Sequential(Scaled(dim // heads), nn.Identity())

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        return flash_attn_func(self.q_norm(q), k, v)
