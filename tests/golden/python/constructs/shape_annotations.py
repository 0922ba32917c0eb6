# run: go(Embedding(), x(2, 64), x(2))
# breaks: fp32-buffers, bf16
from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F


class Embedding(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 64)

    def forward(self, x: float["b d"], time: float["b"], there: bool["b d"] | None = None):
        table = torch.exp(torch.arange(64).float() * -0.1).to(time.device)
        scaled = time.unsqueeze(1) * table  # expect: operator-mixed-dtypes  #! bad
        scaled = (time.unsqueeze(1) * table).to(time.dtype)  #! ok
        x = self.layer(x) + self.layer(scaled)
        return F.scaled_dot_product_attention(x, x, x)
