# run: [go(each(64, 4), x(2, 8, 64)) for each in (ByPlace, InATuple, InATable, ByName, GivenBack, HandedOn, InAFunction, InALambda, OfItsClass, OfAPart, ByProperty)]
# breaks: autocast
import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


class Unit(nn.Module):
    def forward(self, t):
        return F.normalize(t, dim=-1)  # expect: autocast-fp32-operator  #! bad
        return F.normalize(t, dim=-1).to(t.dtype)  #! ok


class Attention(nn.Module):
    def __init__(self, dim, heads, kind="unit"):
        super().__init__()
        self.heads, self.kind, self.part = heads, kind, Unit()
        self.qkv = nn.Linear(dim, dim * 3)
        self.prepare()

    def prepare(self):
        pass

    def whole(self, t):
        return t

    def projected(self, x):
        return self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)


class ByPlace(Attention):
    def prepare(self):
        self.change = (self.unit)

    def unit(self, t):
        return F.normalize(t, dim=-1)  # expect: autocast-fp32-operator  #! bad
        return F.normalize(t, dim=-1).to(t.dtype)  #! ok

    def forward(self, x):
        q, k, v = self.projected(x)
        return flash_attn_func(self.change(q), k, v)


class InATuple(Attention):
    def prepare(self):
        self.change, self.leave = self.unit, self.whole

    def unit(self, t):
        return F.normalize(t, dim=-1)  # expect: autocast-fp32-operator  #! bad
        return F.normalize(t, dim=-1).to(t.dtype)  #! ok

    def forward(self, x):
        q, k, v = self.projected(x)
        return flash_attn_func(self.change(q), self.leave(k), v)


class InATable(Attention):
    def unit(self, t):
        return F.normalize(t, dim=-1)  # expect: autocast-fp32-operator  #! bad
        return F.normalize(t, dim=-1).to(t.dtype)  #! ok

    def forward(self, x):
        q, k, v = self.projected(x)
        kind = self.kind
        change = {"unit": self.unit, "whole": self.whole}.get(kind)
        return flash_attn_func(change(q), k, v)


class ByName(Attention):
    def unit(self, t):
        return F.normalize(t, dim=-1)  # expect: autocast-fp32-operator  #! bad
        return F.normalize(t, dim=-1).to(t.dtype)  #! ok

    def forward(self, x):
        q, k, v = self.projected(x)
        return flash_attn_func(getattr(self, "unit")(q), k, v)


class GivenBack(Attention):
    def chosen(self):
        if self.kind == "unit":
            return self.unit
        return self.whole

    def unit(self, t):
        return F.normalize(t, dim=-1)  # expect: autocast-fp32-operator  #! bad
        return F.normalize(t, dim=-1).to(t.dtype)  #! ok

    def forward(self, x):
        q, k, v = self.projected(x)
        return flash_attn_func(self.chosen()(q), k, v)


class HandedOn(Attention):
    def run(self, function, t):
        return function(t)

    def unit(self, t):
        return F.normalize(t, dim=-1)  # expect: autocast-fp32-operator  #! bad
        return F.normalize(t, dim=-1).to(t.dtype)  #! ok

    def forward(self, x):
        q, k, v = self.projected(x)
        return flash_attn_func(self.run(self.unit, q), self.run(function=self.whole, t=k), v)


class InAFunction(Attention):
    def prepare(self):
        def change(t):
            return self.unit(t)

        self.change = change

    def unit(self, t):
        return F.normalize(t, dim=-1)  # expect: autocast-fp32-operator  #! bad
        return F.normalize(t, dim=-1).to(t.dtype)  #! ok

    def forward(self, x):
        q, k, v = self.projected(x)
        return flash_attn_func(self.change(q), k, v)


class InALambda(Attention):
    def prepare(self):
        self.change = lambda *given: self.unit(*given)

    def unit(self, t):
        return F.normalize(t, dim=-1)  # expect: autocast-fp32-operator  #! bad
        return F.normalize(t, dim=-1).to(t.dtype)  #! ok

    def forward(self, x):
        q, k, v = self.projected(x)
        return flash_attn_func(self.change(q), k, v)


class OfItsClass(Attention):
    def unit(self, t, dim=-1):
        return F.normalize(t, dim=dim)  # expect: autocast-fp32-operator  #! bad
        return F.normalize(t, dim=dim).to(t.dtype)  #! ok

    def forward(self, x):
        q, k, v = self.projected(x)
        return flash_attn_func(OfItsClass.unit(self, q), k, v)


class OfAPart(Attention):
    def forward(self, x):
        q, k, v = self.projected(x)
        change = self.part.forward
        return flash_attn_func(change(q), k, v)


class ByProperty(Attention):
    @property
    def change(self):
        return self.unit

    def unit(self, t):
        return F.normalize(t, dim=-1)  # expect: autocast-fp32-operator  #! bad
        return F.normalize(t, dim=-1).to(t.dtype)  #! ok

    def forward(self, x):
        q, k, v = self.projected(x)
        return flash_attn_func(self.change(q), k, v)
