# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        head_dim = dim // heads
        self.heads, self.scale = heads, head_dim ** -0.5
        self.qkv = nn.Linear(dim, 3 * dim)
        self.register_buffer("gain", torch.ones(head_dim))

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = q * self.scale * self.gain  # expect: attention-implicit-promotion  #! bad
        q = q * self.scale * self.gain.to(q.dtype)  #! ok
        return flash_attn_func(q, k, v)
