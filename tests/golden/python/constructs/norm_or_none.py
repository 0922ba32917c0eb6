# run: go(A(64, 4, True), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads, qk_norm=False):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.q_norm = nn.LayerNorm(dim // heads) if qk_norm else None
        self.k_norm = nn.LayerNorm(dim // heads) if qk_norm else None

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        if self.q_norm is not None:
            q = self.q_norm(q)  # expect: autocast-fp32-operator  #! bad
            k = self.k_norm(k)  # expect: autocast-fp32-operator  #! bad
            q, k = self.q_norm(q).to(v.dtype), self.k_norm(k).to(v.dtype)  #! ok
        return flash_attn_func(q, k, v)
