# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16, autocast
from functools import partial

import torch
import torch.nn as nn
from einops import rearrange, repeat
from xformers.ops import memory_efficient_attention


def slopes(heads):
    return torch.tensor([2 ** (-8 * (i + 1) / heads) for i in range(heads)])  # expect: attention-mask-dtype


class Alibi(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.heads = heads
        self.register_buffer("slopes", slopes(heads), persistent=False)

    def forward(self, n, like):
        distance = (torch.arange(n, device=like.device)[None, :] - torch.arange(n, device=like.device)[:, None]).abs()
        bias = -rearrange(slopes(self.heads).to(like.device), "h -> h 1 1") * distance
        bias = bias.to(like.dtype)  #! ok
        return bias


class Attention(nn.Module):
    def __init__(self, dim, heads, alibi=True):
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(dim, dim)
        self.to_kv = nn.Linear(dim, 2 * dim)
        self.bias = Alibi(heads) if alibi else None

    def forward(self, x):
        q, k, v = self.to_q(x), *self.to_kv(x).chunk(2, dim=-1)
        q, k, v = map(lambda t: rearrange(t, "b n (h d) -> b n h d", h=self.heads), (q, k, v))
        attend = memory_efficient_attention
        if self.bias is not None:
            bias = repeat(self.bias(x.shape[1], q), "h i j -> b h i j", b=x.shape[0])
            attend = partial(attend, attn_bias=bias)
        return rearrange(attend(q, k, v), "b n h d -> b n (h d)")
