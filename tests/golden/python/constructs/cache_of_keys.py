# run: go(A(64, 4), x(2, 8, 64), Cache())
# breaks: fp32-buffers, bf16
# models: yes
from typing import Optional

import torch
import torch.nn as nn
import torch.nn.functional as F
from transformers.cache_utils import Cache


class A(nn.Module):
    def __init__(self, dim, heads, layer=0):
        super().__init__()
        self.heads, self.qkv, self.layer = heads, nn.Linear(dim, dim * 3), layer
        self.register_buffer("scale", torch.ones(dim // heads), persistent=False)

    def forward(self, x, cache: Optional[Cache] = None):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).movedim(2, 0).transpose(2, 3).unbind(0)
        if cache is not None:
            k, v = cache.update(k, v, self.layer)
        q = q * self.scale.float()  # expect: attention-implicit-promotion  #! bad
        q = q * self.scale.type_as(q)  #! ok
        return F.scaled_dot_product_attention(q, k, v)
