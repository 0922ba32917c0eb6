# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16, autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func

NORMS = {}


def register(name):
    def keep(norm):
        NORMS[name] = norm
        return norm
    return keep


@register("scaled")
class ScaledNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        y = x.float()  # expect: attention-mixed-dtypes  # expect: attention-unsupported-dtype
        return y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-5) * self.scale.float()  #! bad
        return (y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-5) * self.scale.float()).to(x.dtype)  #! ok


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.q_norm = NORMS["scaled"](dim // heads)
        self.k_norm = NORMS["scaled"](dim // heads)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        return flash_attn_func(self.q_norm(q), self.k_norm(k), v)
