# run: merge(go, x, ids)
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Vision(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.proj = nn.Linear(dim, dim)

    def forward(self, pixels):
        features = self.proj(pixels)
        ramp = torch.linspace(0, 1, features.shape[-1])
        return features * ramp  # expect: operator-mixed-dtypes


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, dim=-1)
        return F.scaled_dot_product_attention(q, k, v)


class Merged(nn.Module):
    """What a mask names refuses features of another dtype, whatever is compared."""

    def __init__(self, dim):
        super().__init__()
        self.tokens, self.vision, self.block = nn.Embedding(32, dim), Vision(dim), Block(dim)

    def forward(self, input_ids, pixels):
        h = self.tokens(input_ids)
        features = self.vision(pixels)
        image = (input_ids == 5) | (input_ids == 6)
        h[image] = features.flatten(0, 1)  #! bad
        h[image] = features.flatten(0, 1).to(h.dtype)  #! ok
        return self.block(h)


def merge(go, x, ids):
    tokens = torch.cat((torch.full((2, 3), 5), ids(2, 2) % 5), dim=1)
    return go(Merged(64), tokens, x(2, 3, 64))
