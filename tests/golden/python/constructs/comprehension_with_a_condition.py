# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        parts = [t.float() for t in (q, k, v) if t is not None]  # expect: attention-mixed-dtypes  #! bad
        parts = [t for t in (q, k, v) if t is not None]  #! ok
        q = torch.stack(parts).sum(0)
        return F.scaled_dot_product_attention(q, k, v)
