# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func

HALF = (torch.float16, torch.bfloat16)


def _attend(q, k, v):
    dtype = q.dtype if q.dtype in HALF else torch.bfloat16  #! ok
    dtype = q.dtype if q.dtype in HALF else torch.float  #! bad
    return flash_attn_func(q.to(dtype), k.to(dtype), v.to(dtype))  #! ok
    return flash_attn_func(q.to(dtype), k, v)  #! bad


class A(nn.Module):
    """What is no half is cast to one where it is known which dtype the choice gives."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.norm = nn.LayerNorm(dim // heads)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        return _attend(self.norm(q), k, v)  # expect: autocast-fp32-operator  #! bad
        return _attend(self.norm(q), self.norm(k), v)  #! ok
