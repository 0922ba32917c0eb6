# run: go(Shifted(64, 4, 1), x(2, 8, 64))
# breaks: fp32-buffers, bf16, autocast
import torch
import torch.nn as nn
from xformers.ops import memory_efficient_attention


class Shifted(nn.Module):
    def __init__(self, dim, heads, shift=0):
        super().__init__()
        self.heads, self.shift = heads, shift
        self.qkv = nn.Linear(dim, dim * 3)

    def shift_mask(self, n, dtype):
        if self.shift > 0:
            marks = torch.zeros(n)  # expect: attention-mask-dtype  #! bad
            marks = torch.zeros(n, dtype=dtype)  #! ok
            marks[self.shift:] = 1
            mask = marks.unsqueeze(0) - marks.unsqueeze(1)
            mask = mask.masked_fill(mask != 0, -100.0)
        else:
            mask = None
        return mask

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).unbind(2)
        mask = self.shift_mask(n, q.dtype)
        if mask is not None:
            mask = mask.to(q.device)
        bias = mask.expand(b, self.heads, n, n) if mask is not None else None
        return memory_efficient_attention(q, k, v, attn_bias=bias)
