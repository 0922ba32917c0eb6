# run: go(DeltaLayer(64, 2), x(2, 8, 64))
# breaks: autocast
# fixed: yes
import torch
import torch.nn as nn
import torch.nn.functional as F
from fla.ops.delta_rule import chunk_delta_rule


class DeltaLayer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = (nn.Linear(dim, dim) for _ in range(3))
        self.beta = nn.Linear(dim, heads)

    def forward(self, x):
        q, k, v = (each.unflatten(-1, (self.heads, -1)) for each in (self.q(x), self.k(x), self.v(x)))
        k = F.normalize(k, dim=-1)  # expect: autocast-fp32-operator
        beta = self.beta(x).sigmoid()
        out, state = chunk_delta_rule(q, k, v, beta)  #! bad
        out, state = chunk_delta_rule(q, k.to(v.dtype), v, beta)  #! ok
        return out, k.norm(dim=-1), state
