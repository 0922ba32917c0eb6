# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    """Cast for an operator in between. The layer behind gives queries that must suit half keys, so that none may keep it wide."""

    def __init__(self, dim):
        super().__init__()
        self.proj, self.q_head, self.kv_head = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, 2 * dim)

    def pooled(self, x):
        given = x.dtype
        x = x.float()  # expect: operator-mixed-dtypes
        x = F.avg_pool1d(x.transpose(1, 2), 2).transpose(1, 2)
        x = x.to(given)  #! ok
        return x

    def forward(self, x: torch.Tensor):
        x = self.proj(x)
        q = self.q_head(self.pooled(x))
        k, v = self.kv_head(x).chunk(2, dim=-1)
        q, k, v = (each.unflatten(-1, (4, 16)).transpose(1, 2) for each in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v)
