# run: go(Model(64), ids(2, 8))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Positions(nn.Module):
    """What was made in the constructor has its attribute when a longer table is made."""

    def __init__(self, count, dim):
        super().__init__()
        self.dim = dim
        self.make(count)

    def make(self, count):
        table = torch.arange(count, dtype=torch.float32)[:, None] * torch.ones(self.dim)
        if hasattr(self, "weights"):  #! ok
            table = table.to(self.weights.dtype)  #! ok
        self.weights = nn.Parameter(table, requires_grad=False)

    def forward(self, ids):
        if ids.shape[1] > 4:
            self.make(ids.shape[1])
        return self.weights[: ids.shape[1]].to(ids.device)


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.embed, self.positions = nn.Embedding(64, dim), Positions(4, dim)
        self.q = nn.Linear(dim, dim)

    def forward(self, ids: torch.Tensor):
        x = self.embed(ids) + self.positions(ids)  # expect: operator-mixed-dtypes  #! bad
        x = self.embed(ids) + self.positions(ids)  #! ok
        q = self.q(x).unflatten(-1, (4, 16)).transpose(1, 2)
        return F.scaled_dot_product_attention(q, q, q)
