# run: go(Cosine(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        return flash_attn_func(self.scaled(q), k, v)


class Cosine(Attention):
    def scaled(self, t):
        return F.normalize(t, dim=-1)  # expect: autocast-fp32-operator  #! bad
        return F.normalize(t, dim=-1).to(t.dtype)  #! ok


class Plain(Attention):
    def scaled(self, t):
        return t * 0.5
