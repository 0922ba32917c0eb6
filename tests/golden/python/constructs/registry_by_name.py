# run: [go(each(64, 4), x(2, 8, 64)) for each in (ByClassName, ByStatement, ByAnyName, ByTheNameOfOthers)]
# breaks: autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func

GAINS = {}
SCALES = {}
MIXED = {}
OPEN = {}


def gain(kept):
    GAINS[kept.__name__] = kept
    return kept


def mixed(name, *, hidden=False):
    def keep(kept):
        MIXED[name] = kept
        return kept

    return keep


def of_others(name):
    def keep(kept):
        OPEN[name] = kept
        return kept

    return keep


@gain
class Gain(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * self.weight  # expect: attention-implicit-promotion  #! bad
        return (x * self.weight).type_as(x)  #! ok


def scaled(x, weight):
    return x * weight  # expect: attention-implicit-promotion  #! bad
    return (x * weight).type_as(x)  #! ok


SCALES["scaled"] = scaled


@of_others("wide")
@mixed("wide")
class Wide(Gain):
    def forward(self, x):
        return x * self.weight


@mixed("same", hidden=True)
class Same(Gain):
    def forward(self, x):
        return (x * self.weight).type_as(x)


of_others("sa" + "me")(Same)


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.weight = nn.Parameter(torch.ones(dim // heads))

    def projected(self, x):
        return self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)


class ByClassName(Attention):
    def __init__(self, dim, heads):
        super().__init__(dim, heads)
        self.gain = GAINS["Gain"](dim // heads)

    def forward(self, x):
        q, k, v = self.projected(x)
        return flash_attn_func(self.gain(q), k, v)


class ByStatement(Attention):
    def forward(self, x):
        q, k, v = self.projected(x)
        return flash_attn_func(q, SCALES["scaled"](k, self.weight), v)


class ByAnyName(Attention):
    def __init__(self, dim, heads, name="same"):
        super().__init__(dim, heads)
        self.gain = MIXED[name](dim // heads)

    def forward(self, x):
        q, k, v = self.projected(x)
        return flash_attn_func(q, k, self.gain(v))


class ByTheNameOfOthers(Attention):
    def __init__(self, dim, heads, name=None):
        super().__init__(dim, heads)
        self.gain = OPEN[name or "same"](dim // heads)

    def forward(self, x):
        q, k, v = self.projected(x)
        return flash_attn_func(q, k, self.gain(v))
