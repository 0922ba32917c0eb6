# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Norm(nn.Module):
    def forward(self, x):
        given = x.dtype
        x = x.to(torch.float32)
        x = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)
        return x.to(given)


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv, self.norm = heads, nn.Linear(dim, dim * 3), Norm()
        self.register_buffer("gain", torch.ones(heads, 1), persistent=False)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = q * self.gain  # expect: attention-implicit-promotion #! bad
        q = (q * self.gain).to(v.dtype)  #! ok
        return flash_attn_func(self.norm(q), self.norm(k), v)
