# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func

causal = partial(flash_attn_func, causal=True)
unit = partial(F.normalize, dim=-1)


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = unit(q)  # expect: autocast-fp32-operator  #! bad
        q = unit(q).to(k.dtype)  #! ok
        return causal(q, k, v)
