# run: go(Attention(64, 4), x(8, 2, 64))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    """What nn.MultiheadAttention calls, with weights of its own."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.out = heads, nn.Linear(dim, dim)
        self.weight = nn.Parameter(torch.zeros(3 * dim, dim))
        self.bias = nn.Parameter(torch.zeros(3 * dim))

    def forward(self, x):
        n, _, dim = x.shape
        future = torch.full((n, n), float("-inf"), device=x.device)  # expect: attention-mask-dtype
        future = future.triu(1)  #! bad
        future = future.triu(1).to(x.dtype)  #! ok
        return F.multi_head_attention_forward(
            x, x, x, dim, self.heads, self.weight, self.bias, None, None, False, 0.0,
            self.out.weight, self.out.bias, training=self.training, attn_mask=future)[0]
