# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    """Rotates what goes into the projections: these refuse it where the tables stay in float32."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qk, self.v = nn.Linear(dim, 2 * dim), nn.Linear(dim, dim)
        inverse = 1.0 / (10000 ** (torch.arange(0, dim, 2).float() / dim))
        self.register_buffer("inverse", inverse)

    def rotated(self, x):
        angles = torch.outer(torch.arange(x.shape[1], device=x.device).to(self.inverse.dtype), self.inverse)
        tables = torch.stack([angles.cos(), angles.sin()])
        tables = tables.to(x.dtype)  #! ok
        cos, sin = tables[0].repeat(1, 2), tables[1].repeat(1, 2)
        a, b = x.chunk(2, dim=-1)
        return x * cos + torch.cat((-b, a), dim=-1) * sin  # expect: operator-mixed-dtypes  #! bad
        return x * cos + torch.cat((-b, a), dim=-1) * sin  #! ok

    def forward(self, x):
        q, k = self.qk(self.rotated(x)).unflatten(-1, (2, self.heads, -1)).permute(2, 0, 3, 1, 4).unbind(0)
        v = self.v(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        return F.scaled_dot_product_attention(q, k, v)
