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
        self.gains = nn.ParameterDict({"q": nn.Parameter(torch.ones(heads, 1)), "v": torch.ones(dim // heads)})

    def forward(self, x):
        for i in range(self.depth):
            q, k, v = self.qkv[i](x).unflatten(-1, (3, self.heads, -1)).unbind(2)
            q = q * self.gains["q"]  # expect: attention-implicit-promotion  #! bad
            q = q * self.gains["q"].to(q.dtype)  #! ok
            v = v * self.gains["v"]  # expect: attention-implicit-promotion  #! bad
            v = v * self.gains["v"].to(v.dtype)  #! ok
            x = x + flash_attn_func(q, k, v).flatten(2)
        return x
