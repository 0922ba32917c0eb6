# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch.nn as nn
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.norm = nn.LayerNorm(dim // heads)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = self.norm(q)  # expect: autocast-fp32-operator  #! bad
        q = self.norm(q).to(v.dtype)  #! ok
        operands = dict(q=q, k=k, v=v)
        operands["causal"] = True
        return flash_attn_func(**operands)
