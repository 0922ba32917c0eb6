# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import functools

import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


def unit(x):
    return F.normalize(x, dim=-1)  # expect: autocast-fp32-operator  #! bad
    return F.normalize(x, dim=-1).to(x.dtype)  #! ok


def attend(q, k, v, prepare=unit, attention=functools.partial(flash_attn_func, causal=True)):
    return attention(prepare(q), k, v)


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        return attend(q, k, v)
