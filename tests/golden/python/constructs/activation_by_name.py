# run: go(A(64, 4, "silu"), x(2, 8, 64))
# breaks: autocast
# models: yes
import torch.nn as nn
from flash_attn import flash_attn_func
from transformers.activations import ACT2FN


class A(nn.Module):
    def __init__(self, dim, heads, activation):
        super().__init__()
        self.heads, self.activation = heads, ACT2FN[activation]
        self.qkv = nn.Linear(dim, dim * 3)
        self.norm = nn.LayerNorm(dim // heads)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        v = self.activation(v)
        q = self.norm(q)  # expect: autocast-fp32-operator  #! bad
        q = self.norm(q).to(v.dtype)  #! ok
        return flash_attn_func(q, k, v)
