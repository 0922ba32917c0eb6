# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.register_buffer("gain", torch.ones(heads, 1), persistent=False)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).unbind(2)
        q = q * self.gain  # expect: attention-mixed-dtypes  #! bad
        q = q * self.gain.to(q.dtype)  #! ok
        assert q.dtype == k.dtype == v.dtype, "q, k and v differ"
        return flash_attn_func(q, k, v)
