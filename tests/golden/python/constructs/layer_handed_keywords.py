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


class Before(nn.Module):
    def __init__(self, dim, layer):
        super().__init__()
        self.scale, self.layer = Scale(dim), layer

    def forward(self, x, **options):
        return self.layer(self.scale(x), **options)


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)
        self.to_q = Before(dim, nn.Identity())

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        q = self.to_q(q)
        return F.scaled_dot_product_attention(q, k, v)
