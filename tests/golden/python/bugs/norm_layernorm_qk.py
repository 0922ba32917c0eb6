# run: go(QKNormAttention(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
from torch import nn
from flash_attn import flash_attn_func


class QKNormAttention(nn.Module):
    """Multi-head attention with LayerNorm on queries and keys (ViT-22B)."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        head_dim = dim // heads
        self.to_q = nn.Linear(dim, dim)
        self.to_kv = nn.Linear(dim, dim * 2)
        self.q_norm = nn.LayerNorm(head_dim)
        self.k_norm = nn.LayerNorm(head_dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, _ = x.shape
        q = self.to_q(x).reshape(b, n, self.heads, -1)
        k, v = self.to_kv(x).chunk(2, dim=-1)
        k = k.reshape(b, n, self.heads, -1)
        v = v.reshape(b, n, self.heads, -1)
        q = self.q_norm(q)  # expect: autocast-fp32-operator  #! bad
        k = self.k_norm(k)  # expect: autocast-fp32-operator  #! bad
        q = self.q_norm(q).type_as(v)  #! ok
        k = self.k_norm(k).type_as(v)  #! ok
        return self.out(flash_attn_func(q, k, v).reshape(b, n, -1))
