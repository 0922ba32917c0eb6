# run: go(Model(), x(2, 4, 8, 16))
# breaks: fp32-buffers, autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Plain(nn.Module):
    def forward(self, x, table):
        return flash_attn_func(x * table, x, x)  # expect: attention-implicit-promotion  #! bad
        return flash_attn_func(x * table, x, x)  #! ok


class Casting(nn.Module):
    def forward(self, x, table):
        return flash_attn_func((x * table).to(x.dtype), x, x)


class PlainLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Plain()

    def forward(self, x, table):
        return self.attention(x, table)


class LinearLayer(PlainLayer):
    """Has the attention of its base, and does without it."""

    def __init__(self):
        super().__init__()
        self.projection = nn.Linear(16, 16)

    def forward(self, x, table):
        return super().forward(self.projection(x), table)  #! bad
        return self.projection(x)  #! ok


class CastingLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Casting()

    def forward(self, x, table):
        return self.attention(x, table)


class Model(nn.Module):
    """Each layer runs its own forward with its own parts, whatever the other kind has by that name."""

    def __init__(self, kinds=("linear", "casting")):
        super().__init__()
        self.layers = nn.ModuleList([LinearLayer() if kind == "linear" else CastingLayer() for kind in kinds])
        self.register_buffer("table", torch.ones(16), persistent=False)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x, self.table)
        return x
