# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


def prepared(q, k, v):
    q = F.normalize(q, dim=-1)  # expect: autocast-fp32-operator  #! bad
    q = F.normalize(q, dim=-1).to(k.dtype)  #! ok
    return q, *(each.contiguous() for each in (k, v))


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q, k, v = prepared(q, k, v)
        together = q, *[k, v]
        return flash_attn_func(*together)
