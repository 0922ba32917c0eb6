# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)
        self.gain = 0.5  #! bad
        self.gain = 0.0  #! ok

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        if self.gain > 0.0:
            q = q.float()  # expect: attention-mixed-dtypes
        return F.scaled_dot_product_attention(q, k, v)
