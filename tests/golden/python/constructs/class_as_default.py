# run: go(Block(), x(2, 8, 64))
# breaks: autocast
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


class Unit(nn.Module):
    def forward(self, x):
        return F.normalize(x, dim=-1)  # expect: autocast-fp32-operator  #! bad
        return F.normalize(x, dim=-1).to(x.dtype)  #! ok


class A(nn.Module):
    def __init__(self, dim, heads, norm=Unit):
        super().__init__()
        self.heads, self.qkv, self.norm = heads, nn.Linear(dim, dim * 3), norm()

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        return flash_attn_func(self.norm(q), k, v)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = A(64, 4)

    def forward(self, x):
        return self.attention(x)
