# run: [go(each(64, 4), x(2, 8, 64)) for each in (ByList, ByBase, ByOwnBase)]
# breaks: fp32-buffers, bf16, autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Wide(nn.Module):
    def forward(self, t):
        return t.float() * 2  # expect: attention-mixed-dtypes  #! bad
        return (t.float() * 2).to(t.dtype)  #! ok


class Plain(nn.Module):
    def forward(self, t):
        return t


class Block(nn.Sequential):
    def __init__(self, dim):
        super().__init__(nn.Identity(), Plain(), Scaled())


class Scaled(nn.GELU):
    def forward(self, t):
        return super().forward(t.float()) * 2  # expect: attention-mixed-dtypes  #! bad
        return (super().forward(t.float()) * 2).to(t.dtype)  #! ok


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.prepare(dim // heads)

    def projected(self, x):
        return self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)


class ByList(Attention):
    def prepare(self, width):
        layers = [Plain()]
        layers += [nn.Identity()]
        layers.append(Wide())
        self.change = nn.Sequential(*layers)

    def forward(self, x):
        q, k, v = self.projected(x)
        return flash_attn_func(self.change(q), k, v)


class ByBase(Attention):
    def prepare(self, width):
        self.change = Block(width)

    def forward(self, x):
        q, k, v = self.projected(x)
        return flash_attn_func(self.change(q), k, v)


class ByOwnBase(Attention):
    def prepare(self, width):
        self.layers = nn.ModuleList([Plain(), Wide()])

    def forward(self, x):
        q, k, v = self.projected(x)
        return flash_attn_func(self.layers[1](q), self.layers[0](k), v)
