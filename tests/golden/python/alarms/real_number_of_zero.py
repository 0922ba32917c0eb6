# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
# false alarm: comparisons of real numbers that are known are not worked out
import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)
        self.gain = 0.0

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        if self.gain > 0.0:
            q = q.float()  # falsely: attention-mixed-dtypes
        k = k.double()  # expect: attention-mixed-dtypes  #! bad
        return F.scaled_dot_product_attention(q, k, v)
