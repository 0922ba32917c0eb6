# run: [go(each(64, 4), x(2, 8, 64)) for each in (ByBounds, FromTheEnd, ByAStar, BehindAStar, LongerOnOneWay, Backwards, ByANumber)]
# breaks: autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.gain = nn.Parameter(torch.ones(dim // heads))

    def projected(self, x):
        return self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)


class ByBounds(Attention):
    def forward(self, x):
        q, k, v = self.projected(x)
        q = q * self.gain  # expect: attention-implicit-promotion  #! bad
        q = (q * self.gain).type_as(v)  #! ok
        kept = ("operands", q, k, v, self.gain)
        return flash_attn_func(*kept[1:-1])


class FromTheEnd(Attention):
    def forward(self, x):
        q, k, v = self.projected(x)
        k = k * self.gain  # expect: attention-implicit-promotion  #! bad
        k = (k * self.gain).type_as(v)  #! ok
        kept = [self.gain, v, k]
        return flash_attn_func(q, kept[-1], kept[-2])


class ByAStar(Attention):
    def forward(self, x):
        q, k, v = self.projected(x)
        q = q * self.gain  # expect: attention-implicit-promotion  #! bad
        q = (q * self.gain).type_as(v)  #! ok
        first, *others, rate = (q, k, v, 0.0)
        return flash_attn_func(first, *others, dropout_p=rate)


class BehindAStar(Attention):
    def forward(self, x):
        q, k, v = self.projected(x)
        v = v * self.gain  # expect: attention-implicit-promotion  #! bad
        v = (v * self.gain).type_as(k)  #! ok
        *_, key, value = (self.gain, q, k, v)
        return flash_attn_func(q, key, value)


class LongerOnOneWay(Attention):
    def forward(self, x, more=False):
        q, k, v = self.projected(x)
        kept = [k]
        if more:
            kept.append(v * self.gain)
        return flash_attn_func(q, kept[-1], v)


class Backwards(Attention):
    def forward(self, x):
        q, k, v = self.projected(x)
        kept = [self.gain, v, k]
        return flash_attn_func(q, kept[::-1][0], v)


class ByANumber(Attention):
    def forward(self, x, first=1):
        q, k, v = self.projected(x)
        kept = [self.gain, k, v]
        return flash_attn_func(q, kept[first:][0], v)
