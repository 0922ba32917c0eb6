# run: decode(go, ids)
# breaks: fp32-buffers, bf16
# library: torch=2.3
# torch: 2.3
from typing import Optional

import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor, mask: Optional[torch.Tensor] = None):
        q, k, v = self.q(x), self.k(x), self.v(x)
        if mask is not None:
            while mask.dim() < q.dim():
                mask = mask.unsqueeze(0)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


class Model(nn.Module):
    """That the ids are there was checked before their length decides which mask is made."""

    def __init__(self, vocabulary, dim):
        super().__init__()
        self.embedding, self.attention = nn.Embedding(vocabulary, dim), Attention(dim)

    def forward(self, tokens: torch.LongTensor, mask: Optional[torch.Tensor] = None, padding: int = 0):
        if mask is None:
            if tokens is None:
                raise ValueError("no mask of nothing")
            length = tokens.size(1)
            if length == 1:
                mask = torch.ones(length, length, device=tokens.device)  # expect: attention-mask-dtype  #! bad
                mask = torch.ones(length, length, device=tokens.device, dtype=torch.bool)  #! ok
            else:
                mask = (tokens != padding).unsqueeze(1)
        return self.attention(self.embedding(tokens), mask)


def decode(go, ids):
    return go(Model(10, 64), ids(2, 1))
