# run: go(A(64, 16), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F


class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return self.weight * x.float()  # expect: attention-mixed-dtypes  #! bad
        return self.weight.to(x.dtype) * x  #! ok


class A(nn.Module):
    """However many sizes come first, two follow."""

    def __init__(self, dim, head_dim):
        super().__init__()
        self.head_dim, self.norm = head_dim, Norm(head_dim)
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x):
        shape = (*x.shape[:-1], -1, self.head_dim)
        q = self.norm(self.q(x).view(shape)).transpose(1, 2)
        k, v = self.k(x).view(shape).transpose(1, 2), self.v(x).view(shape).transpose(1, 2)
        return F.scaled_dot_product_attention(q, k, v)
