# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    """Padding is zeroed in what attention gives, by a mask that is made where none is handed in."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(dim, dim * 3), nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        b, n, d = x.shape
        if mask is None:
            mask = torch.ones(b, n, 1, device=x.device)  #! bad
            mask = torch.ones(b, n, 1, device=x.device, dtype=x.dtype)  #! ok
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        attended = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        attended = attended * mask  # expect: operator-mixed-dtypes
        return self.out(attended)
