"""flash-attn 2.0 to 2.8: attention of packed queries, keys and values, padded or with cumulated lengths. It takes half dtypes alone, and
gives what it was given."""
import torch
from flash_attn import flash_attn_kvpacked_func, flash_attn_qkvpacked_func, flash_attn_varlen_kvpacked_func, flash_attn_varlen_qkvpacked_func


class FlashSelfAttention(torch.nn.Module):
    def __init__(self, causal=False, softmax_scale=None, attention_dropout=0.0, window_size=(-1, -1), alibi_slopes=None, deterministic=False):
        super().__init__()

    def forward(self, qkv, causal=None, cu_seqlens=None, max_seqlen=None):
        if cu_seqlens is not None:
            return flash_attn_varlen_qkvpacked_func(qkv, cu_seqlens, max_seqlen)
        return flash_attn_qkvpacked_func(qkv)


class FlashCrossAttention(torch.nn.Module):
    def __init__(self, causal=False, softmax_scale=None, attention_dropout=0.0, window_size=(-1, -1), alibi_slopes=None, deterministic=False):
        super().__init__()

    def forward(self, q, kv, causal=None, cu_seqlens=None, max_seqlen=None, cu_seqlens_k=None, max_seqlen_k=None):
        if cu_seqlens is not None:
            return flash_attn_varlen_kvpacked_func(q, kv, cu_seqlens, cu_seqlens_k, max_seqlen, max_seqlen_k)
        return flash_attn_kvpacked_func(q, kv)
