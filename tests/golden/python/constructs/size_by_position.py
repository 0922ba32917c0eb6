# run: go(Attention(16), x(2, 8, 16))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    """The size that F.interpolate takes by its place is no mode."""

    def __init__(self, dim):
        super().__init__()
        self.embed, self.mix = nn.Linear(dim, dim), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor):
        x = self.embed(x)
        x = x * torch.ones(16, device=x.device)  # expect: operator-mixed-dtypes  #! bad
        x = self.mix(F.interpolate(x, 8))
        return F.scaled_dot_product_attention(x, x, x)
