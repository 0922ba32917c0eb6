"""Self-attention of a visual autoregressive model with normalised queries and keys, with VAR's bug: q and k reach the flash
kernel as float32. Under CUDA autocast F.normalize gives float32, and the exponential of a float32 parameter with
dimensions widens q once more."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


class SelfAttention(nn.Module):
    def __init__(self, embed_dim=64, num_heads=4):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.scale_mul = nn.Parameter(torch.full((1, 1, num_heads, 1), 4.0).log())
        self.max_scale_mul = math.log(100)
        self.mat_qkv = nn.Linear(embed_dim, embed_dim * 3, bias=False)
        self.proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        B, L, C = x.shape
        qkv = self.mat_qkv(x).view(B, L, 3, self.num_heads, self.head_dim)
        q, k, v = qkv.unbind(dim=2)
        scale_mul = self.scale_mul.clamp_max(self.max_scale_mul).exp()
        q = F.normalize(q, dim=-1).mul(scale_mul)
        k = F.normalize(k, dim=-1)
        out = flash_attn_func(q, k, v, softmax_scale=1.0)
        return self.proj(out.reshape(B, L, C))
