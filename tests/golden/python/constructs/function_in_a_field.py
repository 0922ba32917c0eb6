# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads, layer=partial(nn.LayerNorm, eps=1e-6)):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.attend = partial(flash_attn_func, causal=True)
        self.unit = F.normalize
        self.rest = partial(self._rest, scale=2.0)
        make = partial(nn.LayerNorm, eps=1e-6)
        self.norm = make(dim // heads)

    def _rest(self, t, scale=1.0):
        return t * scale

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = self.unit(q, dim=-1)  # expect: autocast-fp32-operator  #! bad
        q = self.unit(q, dim=-1).to(v.dtype)  #! ok
        k = self.norm(k)  # expect: autocast-fp32-operator  #! bad
        k = self.norm(k).to(v.dtype)  #! ok
        return self.attend(self.rest(q), k, self.rest(v))
