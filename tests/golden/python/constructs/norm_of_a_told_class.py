# run: go(Attention(Config(Built(16)), 64), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return wide.type_as(x) * self.weight  # expect: attention-implicit-promotion  #! bad
        return (wide * self.weight).type_as(x)  #! ok


class Built:
    def __init__(self, dim):
        self.dim = dim

    def build(self):
        return RMSNorm(self.dim)


class Config:
    def __init__(self, norm):
        self.norm = norm


class Attention(nn.Module):
    def __init__(self, config, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self.norm: RMSNorm | None = None
        if config.norm is not None:
            self.norm = config.norm.build()

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, 4, -1)).unbind(2)
        if self.norm is not None:
            q = self.norm(q)
        return flash_attn_func(q, k, v)
