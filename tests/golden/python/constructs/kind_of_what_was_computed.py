# run: go(Model(64), x(2, 8, 64))
# breaks: fp32-buffers
import torch
from torch import nn
import torch.nn.functional as F


class Angles(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("speeds", 10000.0 ** -torch.linspace(0, 1, dim), persistent=False)

    def forward(self, length):
        return torch.arange(length, device=self.speeds.device).type_as(self.speeds)[:, None] * self.speeds


def turned(x, angles):
    first, second = x.chunk(2, dim=-1)
    x = x * angles.cos() + torch.cat((-second, first), dim=-1) * angles.sin()  # expect: attention-implicit-promotion
    return x


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x, angles):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, dim=-1)
        of_queries, of_keys = angles
        q, k = turned(q, of_queries), turned(k, of_keys)  #! bad
        q, k = turned(q, of_queries).to(v.dtype), turned(k, of_keys).to(v.dtype)  #! ok
        return F.scaled_dot_product_attention(q, k, v)


class Model(nn.Module):
    """What an operator gave is no tuple, and no tensor that is nested."""

    def __init__(self, dim):
        super().__init__()
        self.angles, self.attention = Angles(dim), Attention(dim)

    def forward(self, x):
        angles = self.angles(x.shape[1])
        if not isinstance(angles, tuple):
            angles = (angles, angles)
        if angles[0].is_nested:
            angles = tuple(torch.nested.to_padded_tensor(each, 0.0) for each in angles)
        return self.attention(x, angles)
