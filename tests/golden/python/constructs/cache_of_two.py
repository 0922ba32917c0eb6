# run: go(A(64, 4), x(2, 8, 64), Cache(x(2, 4, 8, 16), x(2, 4, 8, 16)), True)
# breaks: fp32-buffers, bf16
# models: yes
import torch
import torch.nn as nn
import torch.nn.functional as F
from transformers.cache_utils import Cache


class A(nn.Module):
    def __init__(self, dim, heads, layer=0):
        super().__init__()
        self.heads, self.q, self.kv, self.layer = heads, nn.Linear(dim, dim), nn.Linear(dim, dim * 2), layer
        self.register_buffer("scale", torch.ones(dim // heads), persistent=False)

    def forward(self, x, cache: Cache, again=False):
        q = self.q(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        crossed = cache.cross_attention_cache
        if again:
            k, v = crossed.layers[self.layer].keys, crossed.layers[self.layer].values
        else:
            k, v = self.kv(x).unflatten(-1, (2, self.heads, -1)).movedim(2, 0).transpose(2, 3).unbind(0)
            k, v = crossed.update(k, v, self.layer)
        q = q * self.scale.float()  # expect: attention-implicit-promotion  #! bad
        q = q * self.scale.type_as(q)  #! ok
        return F.scaled_dot_product_attention(q, k, v)
