# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


def _attend(q, k, v, **kwargs):
    unit = kwargs.pop("unit", False)
    if unit:
        q = F.normalize(q, dim=-1)  # expect: autocast-fp32-operator
    if "wide" in kwargs:
        k = k.float()
    if kwargs.get("wide_values"):
        v = v.float()
    return flash_attn_func(q, k, v, **kwargs)


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x, **kwargs):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        return _attend(q, k, v, unit=True, causal=True)  #! bad
        return _attend(q, k, v, causal=True)  #! ok
