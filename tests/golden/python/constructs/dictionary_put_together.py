# run: [go(each(64, 4), x(2, 8, 64)) for each in (Updated, UpdatedByName, Merged, Spread, SpreadOver, AugmentedByOr)]
# breaks: autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.gain = nn.Parameter(torch.ones(dim // heads))

    def operands(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        return {"q": q, "k": k, "v": v}


class Updated(Attention):
    def forward(self, x):
        given = self.operands(x)
        wide = given["q"] * self.gain  # expect: attention-implicit-promotion
        given.update({"q": wide})  #! bad
        given.update({"q": wide.type_as(given["k"])})  #! ok
        return flash_attn_func(given["q"], given["k"], given["v"])


class UpdatedByName(Attention):
    def forward(self, x):
        given = self.operands(x)
        wide = given["k"] * self.gain  # expect: attention-implicit-promotion
        given.update(k=wide)  #! bad
        given.update(k=wide.type_as(given["q"]))  #! ok
        return flash_attn_func(**given)


class Merged(Attention):
    def forward(self, x):
        given = self.operands(x)
        wide = given["v"] * self.gain  # expect: attention-implicit-promotion
        wide = wide.type_as(given["k"])  #! ok
        return flash_attn_func(**(given | {"v": wide}))


class Spread(Attention):
    def forward(self, x):
        given = self.operands(x)
        wide = given["q"] * self.gain  # expect: attention-implicit-promotion
        wide = wide.type_as(given["k"])  #! ok
        whole = {**given, "q": wide}
        return flash_attn_func(**whole) + given["q"]


class SpreadOver(Attention):
    def forward(self, x):
        given = self.operands(x)
        wide = {"k": given["k"] * self.gain}  # expect: attention-implicit-promotion
        wide = {"k": wide["k"].type_as(given["q"])}  #! ok
        return flash_attn_func(**{"causal": True, **given, **wide})


class AugmentedByOr(Attention):
    def forward(self, x):
        given = self.operands(x)
        wide = given["v"] * self.gain  # expect: attention-implicit-promotion
        wide = wide.type_as(given["k"])  #! ok
        given |= {"v": wide}
        return flash_attn_func(given["q"], given["k"], given["v"])
