# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import functools

import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    @torch.no_grad()
    @logged
    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = F.normalize(q, dim=-1)  # expect: autocast-fp32-operator  #! bad
        q = F.normalize(q, dim=-1).to(v.dtype)  #! ok
        return flash_attn_func(q, k, v)
