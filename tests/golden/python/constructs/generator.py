# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


def units(*tensors):
    for each in tensors:
        yield F.normalize(each, dim=-1)  # expect: autocast-fp32-operator  #! bad
        yield F.normalize(each, dim=-1).type(each.dtype)  #! ok


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q, k = units(q, k)
        return flash_attn_func(q, k, v)
