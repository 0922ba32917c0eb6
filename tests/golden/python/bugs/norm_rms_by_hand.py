# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
import torch
from torch import nn
from flash_attn import flash_attn_func


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        dtype = x.dtype
        x = x.float()  # expect: attention-mixed-dtypes  # expect: attention-unsupported-dtype  #! bad
        x = x.float()  #! ok
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
        return x * self.weight.float()  #! bad
        return (x * self.weight.float()).to(dtype)  #! ok


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.q_norm = RMSNorm(dim // heads)
        self.k_norm = RMSNorm(dim // heads)

    def forward(self, x):
        b, n, d = x.shape
        qkv = self.qkv(x).reshape(b, n, 3, self.heads, d // self.heads)
        q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
        return flash_attn_func(self.q_norm(q), self.k_norm(k), v)
