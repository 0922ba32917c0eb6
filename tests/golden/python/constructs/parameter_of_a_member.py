# run: go(Model(32, 64), ids(2, 8))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Fixed(nn.Module):
    """A table that is assigned as the weight of a member is one of its parameters, and converted with it."""

    def __init__(self, count, dim):
        super().__init__()
        table = torch.zeros(count, dim).float()
        self.embedding = nn.Embedding(count, dim)
        self.embedding.weight = nn.Parameter(table, requires_grad=False)
        self.table = table  # expect: unregistered-buffer

    def forward(self, ids):
        return F.embedding(ids, self.table)  #! bad
        return self.embedding(ids)  #! ok


class Model(nn.Module):
    def __init__(self, count, dim):
        super().__init__()
        self.words, self.fixed = nn.Embedding(count, dim), Fixed(count, dim)
        self.query = nn.Linear(dim, dim)

    def forward(self, ids):
        q = self.query(self.words(ids)).unsqueeze(1)
        v = self.fixed(ids).unsqueeze(1)
        return F.scaled_dot_product_attention(q, q, v)
