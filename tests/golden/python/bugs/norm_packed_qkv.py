# run: go(MHA(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange

try:
    from flash_attn import flash_attn_qkvpacked_func, flash_attn_kvpacked_func
except ImportError:
    flash_attn_qkvpacked_func, flash_attn_kvpacked_func = None, None


class FlashSelfAttention(nn.Module):
    def __init__(self, causal=False):
        super().__init__()
        assert flash_attn_qkvpacked_func is not None, "FlashAttention is not installed"
        self.causal = causal

    def forward(self, qkv, causal=None):
        causal = self.causal if causal is None else causal
        return flash_attn_qkvpacked_func(qkv, causal=causal)


class MHA(nn.Module):
    def __init__(self, embed_dim, num_heads, qk_norm=True):
        super().__init__()
        self.num_heads = num_heads
        self.Wqkv = nn.Linear(embed_dim, 3 * embed_dim)
        self.qk_norm = qk_norm
        if qk_norm:
            self.q_norm = nn.LayerNorm(embed_dim)
            self.k_norm = nn.LayerNorm(embed_dim)
        self.inner_attn = FlashSelfAttention(causal=True)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, key_padding_mask=None, **kwargs):
        qkv = self.Wqkv(x)
        if self.qk_norm:
            q, k, v = qkv.chunk(3, dim=-1)
            dtype = v.dtype
            q, k = self.q_norm(q), self.k_norm(k)  # expect: autocast-fp32-operator  #! bad
            q, k = self.q_norm(q).to(dtype), self.k_norm(k).to(dtype)  #! ok
            qkv = torch.cat([q, k, v], dim=-1)
        qkv = rearrange(qkv, "b s (three h d) -> b s three h d", three=3, h=self.num_heads)
        context = self.inner_attn(qkv)
        return context
