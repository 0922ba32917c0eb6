# run: go(Stack(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Angles(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("rates", 100.0 ** -torch.linspace(0, 1, dim // 2))

    @torch.autocast("cuda", enabled=False)
    def forward(self, positions):
        angles = torch.outer(positions.type_as(self.rates), self.rates)
        return torch.cat((angles, angles), dim=-1)[:, None], 1.0


def turned(t, angles, scale=1.0):
    first, second = t.chunk(2, dim=-1)
    swapped = torch.cat((-second, first), dim=-1)
    out = t * angles.cos() * scale + swapped * angles.sin() * scale  # expect: attention-implicit-promotion
    return out  #! bad
    return out.type_as(t)  #! ok


class Attend(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(dim, dim * 3), nn.Linear(dim, dim)

    def forward(self, x, angles=None):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        if angles is not None:
            table, scale = angles
            q, k = turned(q, table, scale), turned(k, table, scale)
        return self.out(flash_attn_func(q, k, v).flatten(2))


class Feed(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up, self.down = nn.Linear(dim, dim * 2), nn.Linear(dim * 2, dim)

    def forward(self, x):
        return self.down(self.up(x).relu())


class Stack(nn.Module):
    def __init__(self, dim, heads, depth=2):
        super().__init__()
        self.angles = Angles(dim // heads)
        self.kinds = ("attend", "feed") * depth
        self.layers = nn.ModuleList([])
        for kind in self.kinds:
            layer = Attend(dim, heads) if kind == "attend" else Feed(dim)
            self.layers.append(nn.ModuleList([nn.LayerNorm(dim), layer]))

    def forward(self, x, angles=None, order=None):
        if angles is None:
            angles = self.angles(torch.arange(x.shape[1], device=x.device))
        order = range(len(self.kinds)) if order is None else order
        in_turn = tuple(tuple(each[i] for i in order) for each in (self.kinds, self.layers))
        for kind, (norm, layer) in zip(*in_turn):
            if kind == "attend":
                x = x + layer(norm(x), angles=angles)
            else:
                x = x + layer(norm(x))
        return x
