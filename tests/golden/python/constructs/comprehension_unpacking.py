# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, *rest = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        k, v = rest
        q, k = [F.normalize(each, dim=-1) for each in (q, k)]  # expect: autocast-fp32-operator  #! bad
        q, k = [F.normalize(each, dim=-1).to(v.dtype) for each in (q, k)]  #! ok
        return flash_attn_func(q, k, v)
