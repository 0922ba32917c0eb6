# run: go(Model(64), x(2, 8, 64), x(2))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Times(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim, self.project = dim, nn.Linear(dim, dim)

    def forward(self, time):
        angles = torch.outer(time, torch.arange(self.dim // 2, dtype=torch.float32, device=time.device))
        return self.project(torch.cat([angles.cos(), angles.sin()], dim=-1))


class Model(nn.Module):
    """What the model calls under autocast alone takes float32 there."""

    def __init__(self, dim):
        super().__init__()
        self.times, self.q = Times(dim), nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor, time: torch.Tensor):
        with torch.autocast("cuda", dtype=x.dtype):
            shift = self.times(time)[:, None]
        x = x + shift.to(x.dtype)
        x = x * torch.ones(64, device=x.device)  # expect: operator-mixed-dtypes  #! bad
        q = self.q(x).unflatten(-1, (4, 16)).transpose(1, 2)
        return F.scaled_dot_product_attention(q, q, q)
