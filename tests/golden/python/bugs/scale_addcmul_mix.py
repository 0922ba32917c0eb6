# run: go(Mix(64), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
from fla.ops.delta_rule import chunk_delta_rule


class Mix(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.k_a = nn.Parameter(torch.zeros(hidden_size))
        self.q_proj = nn.Linear(hidden_size, hidden_size, bias=False)
        self.k_proj = nn.Linear(hidden_size, hidden_size, bias=False)
        self.v_proj = nn.Linear(hidden_size, hidden_size, bias=False)
        self.a_proj = nn.Linear(hidden_size, hidden_size)

    def forward(self, x):
        q, k, v, a = self.q_proj(x), self.k_proj(x), self.v_proj(x), self.a_proj(x).sigmoid()
        k = k.addcmul(k * (a - 1), self.k_a)  # expect: attention-implicit-promotion  #! bad
        k = k.addcmul(k * (a - 1), self.k_a.to(k.dtype)).to(q.dtype)  #! ok
        q, k, v = (each.unflatten(-1, (2, -1)) for each in (q, k, v))
        return chunk_delta_rule(q, k, v, torch.sigmoid(a[..., :2]))
