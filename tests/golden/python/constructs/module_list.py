# run: go(Stack(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Stack(nn.Module):
    def __init__(self, dim, heads, depth=2):
        super().__init__()
        self.heads = heads
        self.layers = nn.ModuleList()
        for _ in range(depth):
            self.layers.append(nn.ModuleDict(dict(qkv=nn.Linear(dim, dim * 3), norm=nn.LayerNorm(dim // heads))))

    def forward(self, x):
        for layer in self.layers:
            q, k, v = layer["qkv"](x).unflatten(-1, (3, self.heads, -1)).unbind(2)
            q = layer["norm"](q)  # expect: autocast-fp32-operator  #! bad
            q = layer["norm"](q).to(v.dtype)  #! ok
            x = flash_attn_func(q, k, v).flatten(2)
        return x
