# run: go(Decoder(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16, autocast
from typing import NamedTuple

import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Operands(NamedTuple):
    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor


def decayed(k, decay, steps=2.0):
    return k / (decay * steps)  # expect: attention-implicit-promotion  #! bad
    return k / (decay * steps).to(k.dtype)  #! ok


class Decoder(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.projections = nn.ModuleList([nn.Linear(dim, dim, bias=False) for _ in range(3)])

    def project(self, x) -> Operands:
        return Operands(*[each(x).unflatten(-1, (self.heads, -1)) for each in self.projections])

    def forward(self, x):
        made = self.project(x)
        decay = torch.ones(self.heads, 1, device=x.device)
        return flash_attn_func(made.q, decayed(made.k, decay), made.v)
