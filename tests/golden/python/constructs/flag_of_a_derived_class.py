# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Step(nn.Module):
    wide = True

    def forward(self, t):
        return t.float() if self.wide else t


class Narrow(Step):
    wide = False


class Attention(nn.Module):
    """A flag that a derived class has otherwise is that of its objects."""

    def __init__(self, dim):
        super().__init__()
        self.qkv, self.step = nn.Linear(dim, dim * 3), Narrow()

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        q = self.step(q)
        k = k.float()  # expect: attention-mixed-dtypes  #! bad
        return F.scaled_dot_product_attention(q, k, v)
