# run: go(Block(heads=4, dim=64, cosine=True), x(2, 8, 64))
# breaks: autocast
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
import xformers.ops as xops


def attention(q, k, v, *, backend="xformers", **options):
    if backend == "xformers":
        return xops.memory_efficient_attention(q, k, v, **options)
    q, k, v = (each.transpose(1, 2) for each in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v).transpose(1, 2)


class Attention(nn.Module):
    def __init__(self, dim, heads, cosine, backend):
        super().__init__()
        self.heads, self.cosine, self.backend = heads, cosine, backend
        self.qkv = nn.Linear(dim, dim * 3)
        if cosine:
            self.temperature = nn.Parameter(torch.full((heads, 1), 10.0).log())
            self.ceiling = math.log(100)
        self.scale = 1.0 if cosine else (dim // heads) ** -0.5

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, d // self.heads).unbind(2)
        if self.cosine:
            temperature = self.temperature.clamp(max=self.ceiling).exp()
            q = F.normalize(q, dim=-1) * temperature  # expect: autocast-fp32-operator  #! bad
            k = F.normalize(k, dim=-1)  # expect: autocast-fp32-operator  #! bad
            q = (F.normalize(q, dim=-1) * temperature).type_as(v)  #! ok
            k = F.normalize(k, dim=-1).type_as(v)  #! ok
        out = attention(q, k, v, backend=self.backend, scale=self.scale)
        return out.flatten(2)


class Block(nn.Module):
    def __init__(self, dim, heads, cosine=False, backend="xformers"):
        super().__init__()
        self.attn = Attention(dim, heads, cosine, backend)

    def forward(self, x):
        return x + self.attn(x)
