# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads, **kwargs):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x, **kwargs):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        if kwargs.get("wide"):
            v = v.float()
        if "narrow" in kwargs or kwargs.get("wide"):
            v = v.to(k.dtype)
        if not kwargs.get("plain", False):
            q = F.normalize(q, dim=-1)  # expect: autocast-fp32-operator  #! bad
            q = F.normalize(q, dim=-1).to(k.dtype)  #! ok
        return flash_attn_func(q, k, v)
