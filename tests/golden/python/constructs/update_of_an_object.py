# run: go(Attention(64), x(1, 8, 64))
# breaks: fp32-buffers
# packages: site-packages
import torch.nn as nn
import torch.nn.functional as F
from attention_layers.slots import Slots


class Attention(nn.Module):
    """`update` with names for what it takes, of what is no dictionary."""

    def __init__(self, dim):
        super().__init__()
        self.key, self.cache = nn.Linear(dim, dim), Slots(16, dim)  # expect: attention-mixed-dtypes

    def forward(self, x):
        k = self.key(x)
        kept = self.cache.update(start=0, keys=k)
        return F.scaled_dot_product_attention(k, kept, kept)  #! bad
        return F.scaled_dot_product_attention(k, kept.to(k.dtype), kept.to(k.dtype))  #! ok
