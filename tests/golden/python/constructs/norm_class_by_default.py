# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch.nn as nn
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads, norm_layer=nn.LayerNorm):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.q_norm = norm_layer(dim // heads)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = self.q_norm(q)  # expect: autocast-fp32-operator  #! bad
        q = self.q_norm(q).to(v.dtype)  #! ok
        return flash_attn_func(q, k, v)
