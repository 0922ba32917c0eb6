# run: go(make(64), x(2, 8, 64))
# breaks: autocast, fp32-buffers
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Gain(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("gain", torch.ones(dim), persistent=False)

    def forward(self, x):
        return x * self.gain  # expect: attention-implicit-promotion #! bad
        return (x * self.gain).to(x.dtype)  #! ok


class Attention(nn.Module):
    def __init__(self, dim, heads, norm):
        super().__init__()
        self.heads, self.qkv, self.norm = heads, nn.Linear(dim, dim * 3), norm(dim // heads)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        return flash_attn_func(self.norm(q), k, v)


def make(dim):
    return Attention(dim, 4, norm=Gain)
