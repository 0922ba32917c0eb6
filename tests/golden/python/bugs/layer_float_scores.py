# run: go(Block(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    """The softmax and what it weighs are float32, and the projection behind them is not."""

    def __init__(self, dim):
        super().__init__()
        self.scale = dim ** -0.5
        self.qkv, self.out, self.across = nn.Linear(dim, dim * 3), nn.Linear(dim, dim), nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = torch.matmul(q, k.transpose(-1, -2)) * self.scale
        scores = F.softmax(scores, dim=-1, dtype=torch.float32)  # expect: operator-mixed-dtypes
        attended = torch.matmul(scores, v.float())
        x = x + self.out(attended)  #! bad
        x = x + self.out(attended.to(x.dtype))  #! ok
        q, k, v = self.across(x).chunk(3, dim=-1)
        return F.scaled_dot_product_attention(q, k, v)
