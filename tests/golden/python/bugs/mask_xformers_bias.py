# run: go(BiasAttention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16, autocast
import torch
import torch.nn as nn
from xformers.ops import memory_efficient_attention


class BiasAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).unbind(2)
        bias = torch.full((n, n), float("-inf"), device=x.device)  # expect: attention-mask-dtype
        bias = torch.triu(bias, diagonal=1).expand(b, self.heads, n, n)  #! bad
        bias = torch.triu(bias, diagonal=1).expand(b, self.heads, n, n).to(q.dtype)  #! ok
        return memory_efficient_attention(q, k, v, attn_bias=bias)
