# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
# models: yes
import torch
import torch.nn as nn
import torch.nn.functional as F
from einops.layers.torch import Rearrange
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.q = nn.Sequential(nn.Linear(dim, dim), Rearrange("b n (h d) -> b n h d", h=heads))
        self.kv = nn.Linear(dim, dim * 2)
        self.heads = heads

    def forward(self, x):
        q = self.q(x)
        k, v = self.kv(x).unflatten(-1, (2, self.heads, -1)).unbind(2)
        q = F.normalize(q, dim=-1)  # expect: autocast-fp32-operator  #! bad
        q = F.normalize(q, dim=-1).type_as(k)  #! ok
        return flash_attn_func(q, k, v)
