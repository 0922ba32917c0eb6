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
        qkv = self.qkv(x).unflatten(-1, (3, self.heads, -1))
        q, k, v = qkv.unbind(2)
        q = F.normalize(q, dim=-1)  # expect: autocast-fp32-operator
        guarded = qkv  #! bad
        guarded = q  #! ok
        if guarded.dtype != torch.float32:
            return flash_attn_func(q, k, v)
        return F.scaled_dot_product_attention(q.to(v.dtype), k.to(v.dtype), v)
