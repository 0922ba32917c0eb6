# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


class WideNorm(nn.LayerNorm):
    def forward(self, x):
        return F.layer_norm(x.float(), self.normalized_shape, None, None, self.eps)  # expect: attention-mixed-dtypes  #! bad
        return F.layer_norm(x.float(), self.normalized_shape, None, None, self.eps).type_as(x)  #! ok


class CastingLinear(nn.Linear):
    def forward(self, x):
        return F.linear(x, self.weight.to(x.dtype))


class Conditioned(nn.LayerNorm):
    def __init__(self, dim):
        super().__init__(dim, elementwise_affine=False)
        self.shift = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        return (super().forward(x) + self.shift).to(x.dtype)


class Plain(nn.Linear):
    pass


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.q, self.k, self.v = heads, CastingLinear(dim, dim, bias=False), Plain(dim, dim), Plain(dim, dim)
        self.norm_q, self.norm_k = WideNorm(dim // heads), Conditioned(dim // heads)

    def forward(self, x):
        q, k, v = (layer(x).unflatten(-1, (self.heads, -1)) for layer in (self.q, self.k, self.v))
        return flash_attn_func(self.norm_q(q), self.norm_k(k), v)
