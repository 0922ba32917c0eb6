# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch as t
import torch.nn as nn
from torch.nn import functional as fn, Linear
from flash_attn.flash_attn_interface import flash_attn_func as attend


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = fn.normalize(q, dim=-1)  # expect: autocast-fp32-operator  #! bad
        q = fn.normalize(q, dim=-1).to(t.promote_types(v.dtype, v.dtype))  #! ok
        return attend(q, k, v)
