# run: go(Attention(64, 4), x(2, 8, 64), torch.ones(8, 8))
# breaks: fp32-buffers, bf16
# products: half
from typing import Optional

import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.softmax = nn.Softmax(dim=-1)

    def weights(self, q, k, causal_mask):
        scores = torch.matmul(q, k.transpose(2, 3))
        if causal_mask is not None:
            added = torch.zeros_like(causal_mask, dtype=torch.float)  #! bad
            added = torch.zeros_like(causal_mask, dtype=scores.dtype)  #! ok
            added = added.masked_fill((1 - causal_mask).bool(), float("-inf"))
            scores = scores + added  # expect: attention-mixed-dtypes
        return self.softmax(scores).type_as(scores)

    def forward(self, x, causal_mask: Optional[torch.Tensor] = None):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).transpose(1, 3).unbind(2)
        return torch.matmul(self.weights(q, k, causal_mask), v)
