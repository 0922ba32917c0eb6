# run: go(Attention(64), x(2, 8, 64))
# breaks: autocast, fp32-buffers
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim, heads=4):
        super().__init__()
        self.heads, self.to_qkv = heads, nn.Linear(dim, 3 * dim)
        self.register_buffer("gain", torch.ones(dim // heads))

    def forward(self, x):
        qkv = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = map(lambda t: t.unflatten(-1, (self.heads, -1)), qkv)
        q = q * self.gain  # expect: attention-implicit-promotion  #! bad
        q = q * self.gain.to(v.dtype)  #! ok
        return flash_attn_func(q, k, v)
