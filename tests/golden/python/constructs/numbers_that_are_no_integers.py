# run: [go(each(64), x(2, 8, 64)) for each in (Slopes, Fill)]
# breaks: fp32-buffers, bf16
# products: half
import torch
import torch.nn as nn


class Slopes(nn.Module):
    """2 ** -3 is no integer."""

    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        slopes = torch.tensor([2 ** (-i) for i in range(1, 9)], device=x.device)  #! bad
        slopes = torch.tensor([2 ** (-i) for i in range(1, 9)], device=x.device, dtype=x.dtype)  #! ok
        scores = q @ k.transpose(-1, -2) + slopes  # expect: attention-mixed-dtypes
        return scores.softmax(-1) @ v


class Fill(nn.Module):
    """Of two numbers torch.where makes a tensor of the default dtype, whatever it asks."""

    def __init__(self, dim, allowed=torch.isfinite):
        super().__init__()
        self.qkv, self.allowed = nn.Linear(dim, dim * 3), allowed

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        mask = torch.where(self.allowed(torch.arange(8, device=x.device)), 0.0, float("-inf"))
        mask = mask.to(x.dtype)  #! ok
        scores = q @ k.transpose(-1, -2) + mask  # expect: attention-mixed-dtypes
        return scores.softmax(-1) @ v
