# run: go(Attention(64, True), x(2, 8, 64), torch.ones(2, 8, dtype=torch.bool))
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    """A parameter that is there by an option is converted with its module like any other."""

    def __init__(self, dim, has_token=False):
        super().__init__()
        self.token = nn.Parameter(torch.zeros(1, 1, dim)) if has_token else None
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x, masked=None):
        if masked is not None:
            token = self.token.expand(x.size(0), x.size(1), -1)
            mask = masked.unsqueeze(-1).float()  # expect: operator-mixed-dtypes  #! bad
            mask = masked.unsqueeze(-1).type_as(token)  #! ok
            x = x * (1.0 - mask) + token * mask
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        return F.scaled_dot_product_attention(q, k, v)
