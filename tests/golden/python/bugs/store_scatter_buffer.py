# run: decode(go, x, ids)
# breaks: fp32-buffers, autocast
# fixed: no
import torch
import torch.nn as nn
import torch.nn.functional as F


class Slots(nn.Module):
    def __init__(self, batch, heads, length, dim):
        super().__init__()
        self.register_buffer("keys", torch.zeros(batch, heads, length, dim), persistent=False)  # expect: kv-cache-dtype-mismatch
        self.register_buffer("values", torch.zeros(batch, heads, length, dim), persistent=False)  # expect: kv-cache-dtype-mismatch

    def forward(self, pos, k, v):
        where = pos.view(1, 1, -1, 1).expand(k.shape)
        keys, values = self.keys, self.values  #! bad
        keys, values = self.keys.to(k.dtype), self.values.to(v.dtype)  #! ok
        keys.scatter_(2, where, k)
        values.scatter_(2, where, v)
        return keys, values


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.slots = Slots(2, heads, 16, dim // heads)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, pos):
        q = self.split(self.q_proj(x))
        k, v = self.slots(pos, self.split(self.k_proj(x)), self.split(self.v_proj(x)))
        return F.scaled_dot_product_attention(q, k, v)


def decode(go, x, ids):
    return go(Attention(64, 4), x(2, 3, 64), ids(3))
