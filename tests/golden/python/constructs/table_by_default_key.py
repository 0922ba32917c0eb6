# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16, autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class ScaledNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        y = x.float()  # expect: attention-mixed-dtypes  # expect: attention-unsupported-dtype
        y = y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-5)
        return y * self.scale.float()


class NarrowNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return (x * self.scale.to(x.dtype)).to(x.dtype)


NORMS = {"narrow": NarrowNorm, "scaled": ScaledNorm}


class Attention(nn.Module):
    def __init__(self, dim, heads, norm="scaled"):  #! bad
    def __init__(self, dim, heads, norm="narrow"):  #! ok
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        norm_class = NORMS[norm]
        self.q_norm = norm_class(dim // heads)
        self.k_norm = norm_class(dim // heads)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        return flash_attn_func(self.q_norm(q), self.k_norm(k), v)
