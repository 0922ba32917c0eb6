# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16
# products: half
from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F


class Laplace(nn.Module):
    def forward(self, scores):
        return torch.sigmoid(scores) * 0.5


class Wide(nn.Module):
    def forward(self, x):
        return x.float() * 2


class Attention(nn.Module):
    """Which of two functions runs is told when it is made: each of them is what one of the options gives."""

    def __init__(self, dim, heads, laplace=False, wide=False):
        super().__init__()
        self.heads, self.wide = heads, wide
        self.qkv = nn.Linear(dim, 3 * dim)
        self.attend = Laplace() if laplace else partial(F.softmax, dim=-1)
        self.scale = Wide() if wide else nn.Identity()

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4).unbind(0)
        k = self.scale(k)
        if self.wide:  # the same option
            k = k.to(q.dtype)
        weights = self.attend(q @ k.transpose(-2, -1))
        v = v.float()  # expect: attention-mixed-dtypes  #! bad
        return weights @ v
