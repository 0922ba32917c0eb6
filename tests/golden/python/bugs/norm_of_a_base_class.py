# run: go(Attention(Config()), x(2, 8, 64))
# breaks: fp32-buffers, bf16, autocast
import functools

import torch
import torch.nn as nn
from einops import rearrange
from flash_attn import flash_attn_func


class Config:
    def __init__(self, dim=64, heads=4, eps=1e-6, qk_norm=True):
        self.dim, self.heads, self.eps, self.qk_norm = dim, heads, eps, qk_norm


class Norm(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def normed(self, x):
        raise NotImplementedError

    def forward(self, x):
        y = self.normed(x.float())
        return y * self.weight  #! bad
        return y.to(x.dtype) * self.weight.to(x.dtype)  #! ok


class RMSNorm(Norm):
    def normed(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.to_qkv = nn.Linear(config.dim, 3 * config.dim, bias=False)
        self.q_norm = RMSNorm(config.dim // config.heads, config.eps) if config.qk_norm else nn.Identity()
        self.k_norm = RMSNorm(config.dim // config.heads, config.eps) if config.qk_norm else nn.Identity()
        self.attend = functools.partial(flash_attn_func, causal=True)

    def forward(self, x):
        q, k, v = rearrange(self.to_qkv(x), "b n (three h d) -> three b n h d", three=3, h=self.heads)
        q, k = self.q_norm(q), self.k_norm(k)
        return rearrange(self.attend(q, k, v), "b n h d -> b n (h d)")
