# run: go(A(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16, autocast
import functools

import torch.nn as nn
from flash_attn import flash_attn_func


def in_float32(function):
    @functools.wraps(function)
    def inner(x):
        return function(x).float()  # expect: attention-mixed-dtypes  #! bad
        return function(x.float()).to(x.dtype)  #! ok
    return inner


@in_float32
def scaled(x):
    return x / x.norm(dim=-1, keepdim=True)


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        return flash_attn_func(scaled(q), k, v)
