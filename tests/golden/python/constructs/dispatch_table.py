# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func
from xformers.ops import memory_efficient_attention

BACKENDS = {"flash": flash_attn_func, "xformers": memory_efficient_attention}


class A(nn.Module):
    def __init__(self, dim, heads, backend="flash"):
        super().__init__()
        self.heads, self.qkv, self.backend = heads, nn.Linear(dim, dim * 3), backend

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = F.normalize(q, dim=-1)  # expect: autocast-fp32-operator  #! bad
        q = F.normalize(q, dim=-1).to(k.dtype)  #! ok
        return BACKENDS[self.backend](q, k, v)
