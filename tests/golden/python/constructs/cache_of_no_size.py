# run: go(Model(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x, cache):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, dim=-1)
        if cache.size(0) > 0 or cache.shape[1] != 0:
            k, v = torch.cat((cache, k), dim=2), torch.cat((cache, v), dim=2)  # expect: attention-implicit-promotion
        return F.scaled_dot_product_attention(q, k, v)


class Model(nn.Module):
    """A cache without elements stands for none, whatever its dtype."""

    def __init__(self, dim):
        super().__init__()
        self.attention = Attention(dim)

    def forward(self, x):
        return self.attention(x, torch.zeros(2, 1, 1, 64))  #! bad
        return self.attention(x, torch.zeros(0, 0, 0, 0))  #! ok
