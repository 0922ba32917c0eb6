# run: go(Encoder(64), x(2, 8, 64), torch.ones(2, 8, dtype=torch.bool))
# breaks: autocast
# missed: a store under autocast, where what an input decides may be of either dtype; that a projection gives half and a parameter is float32 is not told from that
# products: half
import torch
from torch import nn


class Encoder(nn.Module):
    """Masked places take a learnt vector."""

    def __init__(self, dim):
        super().__init__()
        self.projection, self.q = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.masked = nn.Parameter(torch.zeros(dim))

    def forward(self, x: torch.Tensor, mask: torch.Tensor):
        h = self.projection(x)
        h[mask] = self.masked  # expect: operator-mixed-dtypes  #! bad
        h[mask] = self.masked.to(h.dtype)  #! ok
        q = self.q(h)
        return torch.softmax(q @ q.transpose(-1, -2), -1) @ q
