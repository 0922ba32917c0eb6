# run: go(Conditioned(64, 4), x(2, 8, 64), {"q": torch.ones(2, 8, 64)})
# breaks: fp32-buffers, bf16
# missed: an input of no known dtype that is cast to float32 may be meant to be wide, and the layers behind it with it
import torch
import torch.nn as nn
import torch.nn.functional as F


class Conditioned(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.given, self.q, self.kv = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, 2 * dim)

    def forward(self, x, conditions):
        added = conditions["q"].float() + self.given(x)  # expect: operator-mixed-dtypes  #! bad
        added = conditions["q"].to(x.dtype) + self.given(x)  #! ok
        k, v = self.kv(x).chunk(2, dim=-1)
        return F.scaled_dot_product_attention(self.q(added), k, v)
