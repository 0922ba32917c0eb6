# run: go(DeltaLayer(64, 2), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
from fla.ops.delta_rule import chunk_delta_rule


def l2_norm(x):
    return x / x.norm(dim=-1, keepdim=True).clamp(min=1e-6)  # expect: autocast-fp32-operator  #! bad
    return (x / x.norm(dim=-1, keepdim=True).clamp(min=1e-6)).to(x)  #! ok


class DeltaLayer(nn.Module):
    def __init__(self, hidden_size=64, num_heads=2):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj = nn.Linear(hidden_size, hidden_size, bias=False)
        self.k_proj = nn.Linear(hidden_size, hidden_size, bias=False)
        self.v_proj = nn.Linear(hidden_size, hidden_size, bias=False)
        self.b_proj = nn.Linear(hidden_size, num_heads, bias=False)

    def forward(self, hidden_states):
        q, k, v = self.q_proj(hidden_states), self.k_proj(hidden_states), self.v_proj(hidden_states)
        q, k, v = (t.unflatten(-1, (self.num_heads, -1)) for t in (q, k, v))
        beta = self.b_proj(hidden_states).sigmoid()
        o = chunk_delta_rule(l2_norm(q), l2_norm(k), v, beta)
        return o.flatten(-2)
