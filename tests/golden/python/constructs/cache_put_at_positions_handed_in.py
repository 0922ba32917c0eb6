# run: go(Attention(), x(1, 8, 64), torch.arange(8))
# breaks: autocast, fp32-buffers
# missed: positions that are handed in may be one number without dimensions, which a store converts for
import torch
import torch.nn as nn
import torch.nn.functional as F


class Cache(nn.Module):
    def __init__(self, length, dtype):
        super().__init__()
        self.register_buffer("keys", torch.zeros(1, length, 64, dtype=dtype))  # expect: kv-cache-dtype-mismatch

    def update(self, at, keys):
        kept = self.keys
        kept[:, at] = keys  #! bad
        kept[:, at] = keys.to(kept.dtype)  #! ok
        return kept


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.key = nn.Linear(64, 64)
        self.cache = Cache(16, torch.float32)

    def forward(self, x, input_pos: torch.Tensor):
        k = self.key(x)
        kept = self.cache.update(input_pos, k).to(k.dtype)
        return F.scaled_dot_product_attention(k, kept, kept)
