# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.ones(dim))

    def scaled(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x):
        return self.scaled(x.float()).type_as(x) * self.weight  # expect: attention-implicit-promotion  #! bad
        return (self.scaled(x.float()) * self.weight).type_as(x)  #! ok


class A(nn.Module):
    def __init__(self, dim, heads, norms=True):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.q_norm = RMSNorm(dim // heads) if norms else nn.Identity()
        self.k_norm = RMSNorm(dim // heads) if norms else nn.Identity()

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        return flash_attn_func(self.q_norm(q), self.k_norm(k), v)
