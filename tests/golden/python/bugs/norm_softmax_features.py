# run: go(FeatureAttention(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
import torch.nn.functional as F
import xformers.ops as xops


class FeatureAttention(nn.Module):
    """Keys pass a softmax over features before memory-efficient attention."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)

    def split(self, t):
        b, n, d = t.shape
        return t.view(b, n, self.heads, d // self.heads)

    def forward(self, x):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        k = F.softmax(k, dim=-1)  # expect: autocast-fp32-operator  #! bad
        k = F.softmax(k, dim=-1).type_as(q)  #! ok
        return xops.memory_efficient_attention(q, k, v)
