# run: go(Attention(64, 4, depth=2), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim, heads, depth):
        super().__init__()
        self.heads, self.depth = heads, depth
        self.qkv = nn.ModuleList([nn.Linear(dim, dim * 3) for _ in range(depth)])
        self.temperatures = nn.ParameterList([nn.Parameter(torch.ones(heads, 1)) for _ in range(depth)])

    def forward(self, x):
        for i in range(self.depth):
            q, k, v = self.qkv[i](x).unflatten(-1, (3, self.heads, -1)).unbind(2)
            q = q * self.temperatures[i]  # expect: attention-implicit-promotion  #! bad
            q = q * self.temperatures[i].to(q.dtype)  #! ok
            x = x + flash_attn_func(q, k, v).flatten(2)
        return x
