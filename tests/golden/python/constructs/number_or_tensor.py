# run: go(Attention(Gains()), x(2, 8, 64))
# breaks: fp32-buffers, bf16, autocast
from dataclasses import dataclass, field
from typing import Optional, Union

import torch
import torch.nn as nn
import xformers.ops as xops


@dataclass
class Gains:
    plain: Optional[Union[int, float]] = 0.5
    table: Union[torch.Tensor, float] = field(default_factory=lambda: torch.ones(16))


class Attention(nn.Module):
    def __init__(self, gains: Gains):
        super().__init__()
        self.gains = gains
        self.qkv = nn.Linear(64, 64 * 3)
        self.register_buffer("angles", torch.ones(16), persistent=False)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, 4, 16)).movedim(2, 0).transpose(2, 3).unbind(0)
        q, v = q * self.gains.plain, v * self.gains.plain  #! bad
        q, v = q * self.gains.table, v * self.gains.table  #! ok
        k = k * self.angles.float()  # expect: attention-implicit-promotion
        return xops.memory_efficient_attention(q, k, v)
