# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16, autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


def angles(length, width, base):
    turns = base ** (-torch.arange(0, width, 2) / width)
    return torch.outer(torch.arange(length), turns).repeat(1, 2)


class Attention(nn.Module):
    def __init__(self, dim, heads, base=10000.0):
        super().__init__()
        self.heads, self.head_dim, self.base = heads, dim // heads, base
        self.scale = self.head_dim**-0.5
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        table = angles(x.shape[1], self.head_dim, self.base).to(x.device)[:, None]
        table = table.to(v.dtype)  #! ok
        q, k = q * self.scale * table.cos(), k * table.cos()  # expect: attention-implicit-promotion
        return flash_attn_func(q, k, v)
