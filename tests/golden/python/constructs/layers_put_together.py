# run: [go(each(64, 4), x(2, 8, 64)) for each in (Spread, FromTheEnd, Copied, ByKey, AllOfThem, Extended, Added, Named, InOrder)]
# breaks: autocast
import copy
from collections import OrderedDict

import torch
import torch.nn as nn
from flash_attn import flash_attn_func


def clones(layer, count):
    return nn.ModuleList([copy.deepcopy(layer) for _ in range(count)])


def norm(width):
    return nn.LayerNorm(width)


class Attention(nn.Module):
    def __init__(self, dim, heads, key="q"):
        super().__init__()
        self.heads, self.width, self.key = heads, dim // heads, key
        self.qkv = nn.Linear(dim, dim * 3)
        self.prepare()

    def projected(self, x):
        return self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)


class Spread(Attention):
    def prepare(self):
        self.norm = nn.Sequential(*[norm(self.width) for _ in range(2)])

    def forward(self, x):
        q, k, v = self.projected(x)
        q = self.norm(q)  # expect: autocast-fp32-operator  #! bad
        q = self.norm(q).to(v.dtype)  #! ok
        return flash_attn_func(q, k, v)


class FromTheEnd(Attention):
    def prepare(self):
        self.norms = nn.ModuleList([norm(self.width), norm(self.width)])

    def forward(self, x):
        q, k, v = self.projected(x)
        for each in reversed(self.norms):
            q = each(q)  # expect: autocast-fp32-operator  #! bad
            q = each(q).to(v.dtype)  #! ok
        return flash_attn_func(q, k, v)


class Copied(Attention):
    def prepare(self):
        self.norms = clones(norm(self.width), 2)

    def forward(self, x):
        q, k, v = self.projected(x)
        for each in self.norms:
            q = each(q)  # expect: autocast-fp32-operator  #! bad
            q = each(q).to(v.dtype)  #! ok
        return flash_attn_func(q, k, v)


class ByKey(Attention):
    def prepare(self):
        self.norms = nn.ModuleDict({"q": norm(self.width), "k": norm(self.width)})

    def forward(self, x):
        q, k, v = self.projected(x)
        q = self.norms[self.key](q)  # expect: autocast-fp32-operator  #! bad
        q = self.norms[self.key](q).to(v.dtype)  #! ok
        return flash_attn_func(q, k, v)


class AllOfThem(Attention):
    def prepare(self):
        self.norms = nn.ModuleDict({"first": norm(self.width), "second": norm(self.width)})

    def forward(self, x):
        q, k, v = self.projected(x)
        for name, each in self.norms.items():
            q = each(q)  # expect: autocast-fp32-operator  #! bad
            q = each(q).to(v.dtype)  #! ok
        for each in self.norms.values():
            k = each(k)  # expect: autocast-fp32-operator  #! bad
            k = each(k).to(v.dtype)  #! ok
        return flash_attn_func(q, k, v)


class Extended(Attention):
    def prepare(self):
        self.norms = nn.ModuleList()
        self.norms.extend([norm(self.width) for _ in range(2)])
        self.others = nn.ModuleList([])
        self.others += [norm(self.width)]

    def forward(self, x):
        q, k, v = self.projected(x)
        for each in self.norms:
            q = each(q)  # expect: autocast-fp32-operator  #! bad
            q = each(q).to(v.dtype)  #! ok
        for each in self.others:
            k = each(k)  # expect: autocast-fp32-operator  #! bad
            k = each(k).to(v.dtype)  #! ok
        return flash_attn_func(q, k, v)


class Added(Attention):
    def prepare(self):
        self.norm = nn.Sequential()
        self.norm.add_module("first", norm(self.width))

    def forward(self, x):
        q, k, v = self.projected(x)
        q = self.norm(q)  # expect: autocast-fp32-operator  #! bad
        q = self.norm(q).to(v.dtype)  #! ok
        return flash_attn_func(q, k, v)


class Named(Attention):
    def prepare(self):
        self.norms = nn.Sequential(norm(self.width))

    def forward(self, x):
        q, k, v = self.projected(x)
        for each in self.norms.children():
            q = each(q)  # expect: autocast-fp32-operator  #! bad
            q = each(q).to(v.dtype)  #! ok
        return flash_attn_func(q, k, v)


class InOrder(Attention):
    def prepare(self):
        layers = [nn.Identity()] + [norm(self.width)]
        self.norm = nn.Sequential(OrderedDict([("plain", nn.Identity()), ("norm", norm(self.width))]))
        self.last = layers[1]

    def forward(self, x):
        q, k, v = self.projected(x)
        q = self.norm(q)  # expect: autocast-fp32-operator  #! bad
        q = self.norm(q).to(v.dtype)  #! ok
        k = self.last(k)  # expect: autocast-fp32-operator  #! bad
        k = self.last(k).to(v.dtype)  #! ok
        return flash_attn_func(q, k, v)
