# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers
import torch
from torch import nn
import torch.nn.functional as F


class Scale(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("scale", torch.ones(dim))

    def forward(self, t):
        return t * self.scale  # expect: attention-implicit-promotion  #! bad
        return t * self.scale.to(t.dtype)  #! ok


class Attention(nn.Module):
    def __init__(self, dim, norm=None):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)
        norm = norm or Scale
        self.norm = norm(dim)

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        q = self.norm(q)
        return F.scaled_dot_product_attention(q, k, v)
