# run: go(Model(32, 64), ids(2, 8))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        q = self.query(x).unsqueeze(1)
        if mask is not None:
            mask = mask.unsqueeze(1)
        return F.scaled_dot_product_attention(q, q, q, attn_mask=mask).squeeze(1)


class Model(nn.Module):
    """What compares with something unknown has a tensor's methods where it is a tensor, and then it is bool."""

    def __init__(self, count, dim):
        super().__init__()
        self.embedding = nn.Embedding(count, dim)
        self.layer = Attention(dim)

    def forward(self, ids, mask=None):
        if mask is None:
            padding = ids == 0
            mask = padding.unsqueeze(-1) == padding.unsqueeze(-2)
            mask = mask.tril(diagonal=0)
            mask = mask.float()  # expect: attention-mask-dtype  #! bad
            mask = mask.clone()  #! ok
        return self.layer(self.embedding(ids), mask=mask)
