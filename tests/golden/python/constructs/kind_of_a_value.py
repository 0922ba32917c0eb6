# run: [go(each(64, 4), x(2, 8, 64)) for each in (Tuple, Tensor, Number, Function)]
# breaks: autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


def default(value, otherwise):
    if value is not None:
        return value
    return otherwise() if callable(otherwise) else otherwise


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.gain = nn.Parameter(torch.ones(dim // heads))

    def operands(self, x):
        return self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)


class Tuple(Attention):
    def scaled(self, q):
        return q * self.gain, None  # expect: attention-implicit-promotion  #! bad
        return (q * self.gain).type_as(q), None  #! ok

    def forward(self, x):
        q, k, v = self.operands(x)
        out = self.scaled(q)
        if isinstance(out, (tuple, list)):
            out = out[0]
        return flash_attn_func(out, k, v)


class Tensor(Attention):
    def scaled(self, given, gain):
        if not isinstance(gain, torch.Tensor):
            return (given * self.gain).half()
        return given * gain  # expect: attention-implicit-promotion  #! bad
        return (given * gain).type_as(given)  #! ok

    def forward(self, x):
        q, k, v = self.operands(x)
        return flash_attn_func(q, self.scaled(k, self.gain), v)


class Number(Attention):
    def scaled(self, given, gain):
        if isinstance(gain, (int, float)):
            return given * gain
        return given * gain.float()

    def forward(self, x):
        q, k, v = self.operands(x)
        return flash_attn_func(q, k, self.scaled(v, 0.5))


class Function(Attention):
    def forward(self, x, query=None):
        q, k, v = self.operands(x)
        q = default(query, lambda: q * self.gain)  # expect: attention-implicit-promotion  #! bad
        q = default(query, lambda: (q * self.gain).type_as(k))  #! ok
        return flash_attn_func(q, k, v)
