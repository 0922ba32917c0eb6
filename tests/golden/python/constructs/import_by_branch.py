# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import os

import torch.nn as nn
import torch.nn.functional as F


def _attention(kernels=None):
    if kernels is None:
        from flash_attn import flash_attn_func
    elif os.environ.get("OTHER_DEVICE"):
        from other_device.attention import flash_attn_func
    else:
        flash_attn_func = getattr(kernels, "flash_attn_func", None)
        if flash_attn_func is None:
            raise ValueError(f"{kernels} has no attention")
    return flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads, kernels=None):
        super().__init__()
        self.heads, self.kernels = heads, kernels
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = F.normalize(q, dim=-1)  # expect: autocast-fp32-operator  #! bad
        q = F.normalize(q, dim=-1).to(k.dtype)  #! ok
        return _attention(self.kernels)(q, k, v)
