# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F


class DistanceBias(nn.Module):
    """A bias for each distance between two positions, by two layers."""

    def __init__(self, hidden, heads):
        super().__init__()
        self.up, self.down = nn.Linear(1, hidden), nn.Linear(hidden, heads)

    def forward(self, n, device):
        distances = torch.arange(1 - n, n, device=device).float()  # expect: operator-mixed-dtypes
        hidden = self.up(distances.unsqueeze(-1))  #! bad
        hidden = self.up(distances.unsqueeze(-1).to(self.up.weight.dtype))  #! ok
        bias = self.down(F.silu(hidden))
        at = torch.arange(n, device=device)
        return bias[at.unsqueeze(0) - at.unsqueeze(1) + n - 1].permute(2, 0, 1)


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv, self.bias = heads, nn.Linear(dim, dim * 3), DistanceBias(16, heads)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=self.bias(n, x.device))
