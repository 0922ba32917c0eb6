# run: go(Model(64, 2), ids(2, 8), torch.arange(8))
# breaks: autocast
from typing import Optional
import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv, self.out = nn.Linear(dim, dim * 3), nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor, positions: Optional[torch.Tensor] = None, cache=None):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        if cache is not None:
            keys, values = cache
            k, v = keys.index_copy(2, positions, k), values.index_copy(2, positions, v)
            cache = k, v
        return self.out(F.scaled_dot_product_attention(q, k, v).squeeze(1)), cache


class Model(nn.Module):
    """Caches are made like the input where there are none yet, and kept from call to call."""

    def __init__(self, dim, count):
        super().__init__()
        self.embed, self.like, self.layers = nn.Embedding(64, dim), nn.Linear(dim, dim), nn.ModuleList([Attention(dim) for _ in range(count)])
        self.caches = []

    def forward(self, ids: torch.Tensor, positions: Optional[torch.Tensor] = None):
        x = self.embed(ids)
        if positions is None:
            for layer in self.layers:
                x, _ = layer(x)
        else:
            if not self.caches:
                shape = (x.shape[0], 1, x.shape[1], x.shape[2])
                like = self.like(x)  #! ok
                like = x  #! bad
                self.caches = [(torch.zeros(shape, device=x.device, dtype=like.dtype),  # expect: kv-cache-dtype-mismatch
                                torch.zeros(shape, device=x.device, dtype=like.dtype))  # expect: kv-cache-dtype-mismatch
                               for _ in range(len(self.layers))]
            for i, layer in enumerate(self.layers):
                x, self.caches[i] = layer(x, positions, self.caches[i])
        return x
