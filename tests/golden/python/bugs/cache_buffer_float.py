# run: go(StaticCache(64, 4), x(2, 1, 64))
# breaks: fp32-buffers, autocast
# fixed: no
import torch
import torch.nn as nn
from flash_attn import flash_attn_with_kvcache


class StaticCache(nn.Module):
    def __init__(self, dim, heads, batch=2, max_len=16):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.register_buffer("k_cache", torch.zeros(batch, max_len, heads, dim // heads), persistent=False)  # expect: kv-cache-dtype-mismatch
        self.register_buffer("v_cache", torch.zeros(batch, max_len, heads, dim // heads), persistent=False)  # expect: kv-cache-dtype-mismatch

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).unbind(2)
        lengths = torch.full((b,), n, dtype=torch.int32, device=x.device)
        return flash_attn_with_kvcache(q, self.k_cache, self.v_cache, k, v, cache_seqlens=lengths)  #! bad
        k_cache, v_cache = self.k_cache.to(q.dtype), self.v_cache.to(q.dtype)  #! ok
        return flash_attn_with_kvcache(q, k_cache, v_cache, k, v, cache_seqlens=lengths)  #! ok
