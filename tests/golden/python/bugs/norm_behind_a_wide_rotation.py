# run: go(Attention(64, 4), x(2, 8, 64), torch.ones(8, 1, 8, dtype=torch.complex128))
# breaks: autocast
import torch
from torch import nn
from flash_attn import flash_attn_func


class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(dim=-1, keepdim=True) + 1e-6)
        return wide.to(x.dtype) * self.weight  # expect: attention-implicit-promotion  #! bad
        return (wide * self.weight).to(x.dtype)  #! ok


def turned(x, turns):
    """In float64, and back to what it was: that is where the norm's float32 comes back, not where it is made."""
    pairs = torch.view_as_complex(x.to(torch.float64).unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * turns).flatten(-2).to(x.dtype)


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv, self.norm = heads, nn.Linear(dim, 3 * dim), Norm(dim // heads)

    def forward(self, x, turns):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        return flash_attn_func(turned(self.norm(q), turns), turned(self.norm(k), turns), v)
