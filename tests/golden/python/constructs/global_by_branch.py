# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


def _plain(q, k, v):
    q, k, v = (each.transpose(1, 2) for each in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v).transpose(1, 2)


def _flash(q, k, v):
    return flash_attn_func(q, k, v)


if os.environ.get("PLAIN_ATTENTION"):
    attend = _plain
else:
    attend = _flash

SCALE = 1.0


def set_scale(scale):
    global SCALE
    SCALE = scale


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = F.normalize(q, dim=-1)  # expect: autocast-fp32-operator  #! bad
        q = F.normalize(q, dim=-1).to(k.dtype)  #! ok
        return attend(q, k, v)
