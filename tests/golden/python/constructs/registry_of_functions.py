# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func

KERNELS = {}


def kernel(name):
    def keep(function):
        KERNELS[name] = function
        return function

    return keep


@kernel("flash")
def flash(q, k, v):
    return flash_attn_func(q, k, v)


@kernel("values")
def values(q, k, v):
    return v


class A(nn.Module):
    """Other files may register more; each of these may be meant all the same."""

    def __init__(self, dim, heads, name="flash"):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.scale, self.attend = nn.Parameter(torch.ones(dim // heads)), KERNELS[name]

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = q * self.scale  # expect: attention-implicit-promotion  #! bad
        q = (q * self.scale).type_as(k)  #! ok
        return self.attend(q, k, v)
