# run: go(A(64, 4, True), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads, qk_norm=False):
        super().__init__()
        self.heads, self.qkv, self.qk_norm = heads, nn.Linear(dim, dim * 3), qk_norm
        if qk_norm:
            self.q_norm = nn.LayerNorm(dim // heads)
        else:
            self.q_norm = nn.Identity()

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = self.q_norm(q)  # expect: autocast-fp32-operator
        if self.qk_norm:
            q = q.contiguous()  #! bad
            q = q.to(v.dtype)  #! ok
        return flash_attn_func(q, k, v)
