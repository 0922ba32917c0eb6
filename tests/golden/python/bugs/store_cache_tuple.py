# run: decode(go, x, ids)
# breaks: fp32-buffers, bf16, autocast
# fixed: yes
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.cache = None

    def forward(self, x, pos):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if self.cache is None:
            shape = (b, self.heads, 32, d // self.heads)
            self.cache = (torch.zeros(shape, device=x.device),  # expect: kv-cache-dtype-mismatch  #! bad
                          torch.zeros(shape, device=x.device))  # expect: kv-cache-dtype-mismatch  #! bad
            self.cache = torch.zeros(shape, device=x.device, dtype=k.dtype), torch.zeros_like(k).new_zeros(shape)  #! ok
        k_cache, v_cache = self.cache
        k = k_cache.index_copy(2, pos, k)
        v = v_cache.index_copy(2, pos, v)
        self.cache = k, v
        return F.scaled_dot_product_attention(q, k, v)


def decode(go, x, ids):
    return go(Attention(64, 4), x(2, 1, 64), ids(1))
