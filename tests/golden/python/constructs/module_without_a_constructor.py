# run: go(Model("kept", 64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Kept(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.scale = torch.ones(dim)  # expect: unregistered-buffer  #! bad
        self.scale = nn.Parameter(torch.ones(dim))  #! ok

    def forward(self, q):
        return q * self.scale


class Plain(nn.Module):
    def forward(self, q):
        return q


class Heir(Plain):
    pass


def scaling(kind, dim):
    if kind == "kept":
        made = Kept(dim)
    elif kind == "heir":
        made = Heir()
    else:
        made = Plain()
    return made


class Model(nn.Module):
    """Whichever of them it is, it is a module of the model, and converted with it."""

    def __init__(self, kind, dim):
        super().__init__()
        self.scaling, self.qkv = scaling(kind, dim), nn.Linear(dim, 3 * dim)

    def forward(self, x):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, dim=-1)
        return F.scaled_dot_product_attention(self.scaling(q), k, v)
