# run: go(Model(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    """A layer that its model's loader leaves in float32 takes a float32 input."""

    def __init__(self, dim):
        super().__init__()
        self.qkv, self.narrow = nn.Linear(dim, dim * 3), nn.Linear(dim, dim)
        self.wide = nn.Linear(dim, dim)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        attended = F.scaled_dot_product_attention(q, k, v)
        gain = torch.full((x.shape[-1],), 0.5, device=x.device)
        attended = attended * gain  # expect: operator-mixed-dtypes
        return self.narrow(attended)  #! bad
        return self.wide(attended)  #! ok


class Model(nn.Module):
    _keep_in_fp32_modules = ["wide"]

    def __init__(self, dim):
        super().__init__()
        self.attention = Attention(dim)

    def forward(self, x):
        return self.attention(x)
