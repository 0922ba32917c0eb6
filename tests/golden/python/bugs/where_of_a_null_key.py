# run: go(CrossAttention(Settings(context_dim=32)), x(2, 8, 64), x(2, 6, 32), torch.ones(2, 6, dtype=torch.bool))
# breaks: autocast
from typing import NamedTuple, Optional

import torch
from flash_attn import flash_attn_func
from torch import nn


class Settings(NamedTuple):
    dim: int = 64
    context_dim: Optional[int] = None
    heads: int = 4
    null_kv: bool = True


class CrossAttention(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.settings = settings
        context_dim = settings.context_dim if settings.context_dim is not None else settings.dim
        self.to_q = nn.Linear(settings.dim, settings.dim)
        self.to_kv = nn.Linear(context_dim, settings.dim * 2)
        if settings.null_kv:
            self.null = nn.Parameter(torch.randn(2, settings.heads, settings.dim // settings.heads) * 0.02)

    def keys_and_values(self, context, keep):
        kv = self.to_kv(context).unflatten(-1, (2, self.settings.heads, -1))
        if self.settings.null_kv:
            kv = torch.where(keep[:, :, None, None, None], kv, self.null)  # expect: attention-implicit-promotion  #! bad
            kv = torch.where(keep[:, :, None, None, None], kv, self.null.to(kv.dtype))  #! ok
        return kv.unbind(2)

    def forward(self, x, context, keep):
        q = self.to_q(x).unflatten(-1, (self.settings.heads, -1))
        k, v = self.keys_and_values(context, keep)
        return flash_attn_func(q, k, v).flatten(2)
