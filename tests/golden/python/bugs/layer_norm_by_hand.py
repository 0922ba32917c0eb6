# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F


class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        wide = x.float()  # expect: operator-mixed-dtypes  #! bad
        wide = x.float()  #! ok
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * wide  #! bad
        return (self.weight * wide).to(x.dtype)  #! ok


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm, self.qkv = Norm(dim), nn.Linear(dim, dim * 3)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, n, 3, d).unbind(2)
        return F.scaled_dot_product_attention(q, k, v)
