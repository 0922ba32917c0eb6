# run: go(EvaAttention(64, 4), x(2, 9, 64))
# breaks: autocast, fp32-buffers, bf16
from typing import Optional

import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


def rot(x):
    return torch.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)


def apply_rot_embed_cat(x: torch.Tensor, emb):
    sin_emb, cos_emb = emb.tensor_split(2, -1)
    if sin_emb.ndim == 3:
        return (x * cos_emb.unsqueeze(1).expand_as(x) + rot(x) * sin_emb.unsqueeze(1).expand_as(x)).to(x.dtype)
    return x * cos_emb + rot(x) * sin_emb  # expect: attention-implicit-promotion  #! bad
    return (x * cos_emb + rot(x) * sin_emb).to(x.dtype)  #! ok


def build_embed(n, dim, device, dtype=torch.float32):
    t = torch.arange(n, device=device, dtype=dtype)
    bands = 1.0 / (10000.0 ** (torch.arange(0, dim // 2, device=device, dtype=dtype) / dim))
    pos = t.unsqueeze(-1) * bands
    sin, cos = pos.sin().repeat_interleave(2, -1), pos.cos().repeat_interleave(2, -1)
    return torch.cat([sin, cos], -1)


class EvaAttention(nn.Module):
    fused_attn: torch.jit.Final[bool]

    def __init__(self, dim: int, num_heads: int = 8, qkv_bias: bool = True, num_prefix_tokens: int = 1):
        super().__init__()
        self.num_heads = num_heads
        self.num_prefix_tokens = num_prefix_tokens
        self.qkv = nn.Linear(dim, dim * 3, bias=False)
        if qkv_bias:
            self.q_bias = nn.Parameter(torch.zeros(dim))
            self.register_buffer("k_bias", torch.zeros(dim), persistent=False)
            self.v_bias = nn.Parameter(torch.zeros(dim))
        else:
            self.q_bias = self.k_bias = self.v_bias = None
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, rope: Optional[torch.Tensor] = None, attn_mask: Optional[torch.Tensor] = None):
        B, N, C = x.shape
        qkv = self.qkv(x)
        qkv = qkv.reshape(B, N, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        npt = self.num_prefix_tokens
        rope = build_embed(N - npt, C // self.num_heads, x.device)
        q = torch.cat([q[:, :, :npt, :], apply_rot_embed_cat(q[:, :, npt:, :], rope)], dim=2)
        k = torch.cat([k[:, :, :npt, :], apply_rot_embed_cat(k[:, :, npt:, :], rope)], dim=2)
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        return self.proj(flash_attn_func(q, k, v).reshape(B, N, C))
