# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


def heads_last(*tensors, heads):
    return tuple(t.unflatten(-1, (heads, -1)) for t in tensors)


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.to_q, self.to_kv = heads, nn.Linear(dim, dim), nn.Linear(dim, dim * 2)

    def forward(self, x):
        q, k, v = (self.to_q(x), *self.to_kv(x).chunk(2, dim=-1))
        q, k, v = heads_last(q, k, v, heads=self.heads)
        pair = [F.normalize(q, dim=-1), k]  # expect: autocast-fp32-operator  #! bad
        pair = [F.normalize(q, dim=-1).to(k.dtype), k]  #! ok
        q, k, v = [*pair, v]
        return flash_attn_func(q, k, v)
