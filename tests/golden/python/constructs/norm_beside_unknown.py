# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


def norm_layer(dim, layer) -> nn.Module:
    if layer is not None:
        return layer(dim)
    return nn.LayerNorm(dim)


class A(nn.Module):
    def __init__(self, dim, heads, layer=None):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.q_norm = norm_layer(dim // heads, layer)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = self.q_norm(q)  # expect: autocast-fp32-operator  #! bad
        q = self.q_norm(q).to(v.dtype)  #! ok
        return flash_attn_func(q, k, v)
