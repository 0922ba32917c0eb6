# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers
import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    """What a part of a chosen tuple, list or dictionary is, is what it was chosen for."""

    def __init__(self, dim, wide: bool = True):
        super().__init__()
        self.wide, self.qkv = wide, nn.Linear(dim, dim * 3)
        self.register_buffer("table", torch.ones(dim), persistent=False)

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        q, k = (q * self.table, k * self.table) if self.wide else (q, k)  # expect: attention-implicit-promotion
        if self.wide:  #! ok
            q, k = q.to(v.dtype), k.to(v.dtype)  #! ok
        return F.scaled_dot_product_attention(q, k, v)
