# run: [go(each(64, 4), x(2, 8, 64)) for each in (ByField, Unpacked, Typed, Namespace)]
# breaks: autocast
from collections import namedtuple
from types import SimpleNamespace
from typing import NamedTuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func

Operands = namedtuple("Operands", ["q", "k", "v"])
Pair = namedtuple("Pair", "q k")


class TypedPair(NamedTuple):
    q: torch.Tensor
    k: torch.Tensor


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)

    def projected(self, x):
        return self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)


class ByField(Attention):
    def operands(self, q, k, v):
        return Operands(F.normalize(q, dim=-1), v=v, k=k)  # expect: autocast-fp32-operator  #! bad
        return Operands(F.normalize(q, dim=-1).to(v.dtype), v=v, k=k)  #! ok

    def forward(self, x):
        given = self.operands(*self.projected(x))
        return flash_attn_func(given.q, given.k, given.v)


class Unpacked(Attention):
    def pair(self, q, k):
        return Pair(F.normalize(q, dim=-1), k)  # expect: autocast-fp32-operator  #! bad
        return Pair(F.normalize(q, dim=-1).to(k.dtype), k)  #! ok

    def forward(self, x):
        q, k, v = self.projected(x)
        q, k = self.pair(q, k)
        return flash_attn_func(q, k, v)


class Typed(Attention):
    def pair(self, q, k):
        return TypedPair(F.normalize(q, dim=-1), k=k)  # expect: autocast-fp32-operator  #! bad
        return TypedPair(F.normalize(q, dim=-1).to(k.dtype), k=k)  #! ok

    def forward(self, x):
        q, k, v = self.projected(x)
        q, _ = self.pair(q, k)
        return flash_attn_func(q, self.pair(k, q).k, v)


class Namespace(Attention):
    def pair(self, q, k):
        return SimpleNamespace(q=F.normalize(q, dim=-1), k=k)  # expect: autocast-fp32-operator  #! bad
        return SimpleNamespace(q=F.normalize(q, dim=-1).to(k.dtype), k=k)  #! ok

    def forward(self, x):
        q, k, v = self.projected(x)
        given = self.pair(q, k)
        return flash_attn_func(given.q, given.k, v)
