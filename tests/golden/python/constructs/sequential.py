# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.to_q = nn.Sequential(nn.Linear(dim, dim), nn.LayerNorm(dim))  #! bad
        self.to_q = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim))  #! ok
        self.to_kv = nn.Linear(dim, dim * 2)

    def forward(self, x):
        q = self.to_q(x).unflatten(-1, (self.heads, -1))  # expect: autocast-fp32-operator
        k, v = self.to_kv(x).unflatten(-1, (2, self.heads, -1)).unbind(2)
        return flash_attn_func(q, k, v)
