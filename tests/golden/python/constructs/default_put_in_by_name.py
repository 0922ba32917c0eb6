# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Layer(nn.Module):
    def __init__(self, wide=True):
        super().__init__()
        self.wide = wide

    def forward(self, t):
        return t.float() if self.wide else t  # expect: attention-mixed-dtypes


class Plain(Layer):
    def __init__(self, **options):
        options.setdefault("wide", True)  #! bad
        options.setdefault("wide", False)  #! ok
        super().__init__(**options)


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)
        self.layer = Plain()

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        q = self.layer(q)
        return F.scaled_dot_product_attention(q, k, v)
