# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


class Heads:
    def __init__(self, q, k, v):
        self.q, self.k, self.v = q, k, v

    @classmethod
    def split(cls, packed, heads):
        q, k, v = packed.unflatten(-1, (3, heads, -1)).unbind(2)
        q = F.normalize(q, dim=-1)  # expect: autocast-fp32-operator  #! bad
        q = F.normalize(q, dim=-1).to(k.dtype)  #! ok
        return cls(q, k, v)


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        heads = Heads.split(self.qkv(x), self.heads)
        return flash_attn_func(heads.q, heads.k, heads.v)
