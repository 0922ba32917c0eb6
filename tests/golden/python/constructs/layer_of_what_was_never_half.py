# run: go(Model(), x(2, 8, 64), torch.arange(2), torch.arange(2))
# breaks: fp32-buffers, bf16
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


def waves(positions, dim):
    steps = torch.exp(-math.log(10000) * torch.arange(0, dim // 2, dtype=torch.float32) / dim)
    angles = positions[:, None].float() * steps.to(positions.device)
    return torch.cat([angles.cos(), angles.sin()], dim=-1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Linear(64, 64)
        self.label = nn.Linear(64, 64)
        self.qkv = nn.Linear(64, 64)

    def forward(self, x, timesteps, labels):
        time = self.time(waves(timesteps, 64).to(x.dtype))
        label = self.label(waves(labels, 64))  # expect: operator-mixed-dtypes  #! bad
        label = self.label(waves(labels, 64).to(x.dtype))  #! ok
        x = self.qkv(x) + (time + label)[:, None]
        return F.scaled_dot_product_attention(x, x, x)
