# run: go(Model("full", 64), torch.zeros(2, 8, dtype=torch.int64))
# breaks: fp32-buffers, bf16
# products: half
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x, mask):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = torch.bmm(q, k.transpose(1, 2)).softmax(dim=-1)
        x = torch.bmm(scores, v) * mask  # expect: operator-mixed-dtypes  #! bad
        x = torch.bmm(scores, v) * mask.to(v.dtype)  #! ok
        return self.out(x)


class Sparse(Block):
    pass


class Model(nn.Module):
    """Which block it is decides nothing: the projection of both refuses."""

    def __init__(self, kind, dim):
        super().__init__()
        self.tokens = nn.Embedding(32, dim)
        if kind == "full":
            self.block = Block(dim)
        else:
            self.block = Sparse(dim)

    def forward(self, input_ids, mask=None):
        if mask is None:
            mask = torch.ones(input_ids.shape, device=input_ids.device)
        return self.block(self.tokens(input_ids), mask[:, :, None])
