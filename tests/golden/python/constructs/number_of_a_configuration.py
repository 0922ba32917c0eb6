# run: go(A(Configuration()), x(2, 8, 64))
# breaks: fp32-buffers, bf16
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Shared:
    multiplier: float | int = 1.0


@dataclass
class Configuration(Shared):
    width: int = 64
    heads: int = 4
    scale: float = 0.5
    wide: torch.Tensor | float = 1.0


class A(nn.Module):
    def __init__(self, config: Configuration):
        super().__init__()
        self.config, self.heads, self.scale = config, config.heads, config.scale**-0.5
        self.qkv = nn.Linear(config.width, config.width * 3)
        self.register_buffer("angles", torch.ones(config.width // config.heads), persistent=False)
        self.multiplier = config.multiplier

    def forward(self, x):
        qkv = self.qkv(x * self.multiplier) * self.scale
        q, k, v = qkv.unflatten(-1, (3, self.heads, -1)).movedim(2, 0).transpose(2, 3).unbind(0)
        q = q * self.angles.float()  # expect: attention-implicit-promotion  #! bad
        q = q * self.angles.to(q.dtype)  #! ok
        return F.scaled_dot_product_attention(q, k, v)
