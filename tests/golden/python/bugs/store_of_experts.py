# run: route(go, x)
# breaks: autocast, fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Experts(nn.Module):
    """The weights are float32 for the softmax alone, and what they weigh is added to a sum in the model's dtype."""

    def __init__(self, dim, count):
        super().__init__()
        self.gate = nn.Linear(dim, count)
        self.experts = nn.ModuleList([nn.Linear(dim, dim) for _ in range(count)])

    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1])
        weights = F.softmax(self.gate(rows), dim=-1, dtype=torch.float32)  # expect: operator-mixed-dtypes  #! bad
        weights = F.softmax(self.gate(rows), dim=-1, dtype=torch.float32).to(rows.dtype)  #! ok
        weights, chosen = torch.topk(weights, 2, dim=-1)
        total = torch.zeros_like(rows)
        for i, expert in enumerate(self.experts):
            at = torch.arange(i, rows.shape[0], 2, device=rows.device)
            total.index_add_(0, at, expert(rows[at]) * weights[at, chosen[at, 0], None])
        return total.view(x.shape)


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv, self.experts = nn.Linear(dim, 3 * dim), Experts(dim, 4)

    def forward(self, x):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, dim=-1)
        return self.experts(F.scaled_dot_product_attention(q, k, v).squeeze(1))


def route(go, x):
    return go(Block(64), x(2, 8, 64))
