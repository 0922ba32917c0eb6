# run: go(WindowAttention(64, 4, 8), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
from xformers.ops import memory_efficient_attention


class WindowAttention(nn.Module):
    def __init__(self, dim, heads, window):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.relative_position_bias_table = nn.Parameter(torch.zeros(2 * window, heads))  # expect: attention-mask-dtype
        self.register_buffer("relative_position_index", torch.zeros(window, window, dtype=torch.long))

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, -1).unbind(2)
        bias = self.relative_position_bias_table[self.relative_position_index.view(-1)]
        bias = bias.view(n, n, -1).permute(2, 0, 1).unsqueeze(0).expand(b, -1, -1, -1)
        out = memory_efficient_attention(q, k, v, bias)  #! bad
        out = memory_efficient_attention(q, k, v, bias.to(q.dtype))  #! ok
        return out
