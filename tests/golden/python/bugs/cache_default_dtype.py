# run: decode(go, x)
# breaks: fp32-buffers, bf16
# fixed: yes
import torch
import torch.nn as nn
import torch.nn.functional as F


class KVCacheAttention(nn.Module):
    def __init__(self, dim, heads, max_len=32):
        super().__init__()
        self.heads, self.max_len = heads, max_len
        self.qkv = nn.Linear(dim, dim * 3)

    def make_cache(self, batch, head_dim, like):
        shape = (batch, self.heads, self.max_len, head_dim)
        return torch.zeros(shape), torch.zeros(shape)  # expect: attention-mixed-dtypes  #! bad
        return torch.zeros(shape, dtype=like.dtype), torch.zeros(shape, dtype=like.dtype)  #! ok

    def forward(self, x, pos=0):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        cache_k, cache_v = self.make_cache(b, d // self.heads, k)
        cache_k[:, :, pos : pos + n] = k
        cache_v[:, :, pos : pos + n] = v
        return F.scaled_dot_product_attention(q, cache_k, cache_v)


def decode(go, x):
    return go(KVCacheAttention(64, 4), x(2, 1, 64))
