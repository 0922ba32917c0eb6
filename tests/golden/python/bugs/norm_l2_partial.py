# run: go(Attention(64, heads=4), x(2, 8, 64))
# breaks: autocast
from collections import namedtuple
from functools import partial, wraps

import torch
import torch.nn.functional as F
from torch import nn, einsum
from torch.nn import Module
from einops import rearrange, repeat
from flash_attn import flash_attn_func


def exists(v):
    return v is not None


def default(v, d):
    return v if exists(v) else d


def l2norm(t, groups=1):
    t = rearrange(t, '... (g d) -> ... g d', g=groups)
    t = F.normalize(t, p=2, dim=-1)  # expect: autocast-fp32-operator  #! bad
    t = F.normalize(t, p=2, dim=-1).type(t.dtype)  #! ok
    return rearrange(t, '... g d -> ... (g d)')


class Attention(Module):
    def __init__(self, dim, *, dim_head=16, heads=8, qk_norm=True, groups=1):
        super().__init__()
        inner_dim = dim_head * heads
        self.heads, self.groups, self.qk_norm = heads, groups, qk_norm
        self.to_q = nn.Linear(dim, inner_dim, bias=False)
        self.to_kv = nn.Linear(dim, inner_dim * 2, bias=False)
        self.to_out = nn.Sequential(nn.Linear(inner_dim, dim), nn.Dropout(0.))

    def forward(self, x, context=None, mask=None):
        kv_input = default(context, x)
        q, k, v = (self.to_q(x), *self.to_kv(kv_input).chunk(2, dim=-1))
        q, k, v = map(lambda t: rearrange(t, 'b n (h d) -> b n h d', h=self.heads), (q, k, v))
        if self.qk_norm:
            qk_l2norm = partial(l2norm, groups=self.groups)
            q, k = map(qk_l2norm, (q, k))
        out = flash_attn_func(q, k, v)
        out = rearrange(out, 'b n h d -> b n (h d)')
        return self.to_out(out)
