# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
# models: yes
import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_kvpacked_func
from flash_attn.layers.rotary import RotaryEmbedding
from flash_attn.ops.fused_dense import FusedDense


class A(nn.Module):
    def __init__(self, dim, heads, fused=True):
        super().__init__()
        self.heads = heads
        self.rotary = RotaryEmbedding(dim // heads)
        layer = FusedDense if fused else nn.Linear
        self.q, self.kv = layer(dim, dim), layer(dim, dim * 2)

    def forward(self, x):
        q = self.q(x).unflatten(-1, (self.heads, -1))
        q = F.normalize(q, dim=-1)  # expect: autocast-fp32-operator  #! bad
        q, kv = self.rotary(q, self.kv(x).unflatten(-1, (2, self.heads, -1)))
        return flash_attn_kvpacked_func(q, kv)
