# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
from torch.amp import autocast
from flash_attn import flash_attn_func


@autocast("cuda", enabled=False)
def scale(q, gain):
    return q * gain  # expect: attention-implicit-promotion  #! bad
    return (q * gain).to(q.dtype)  #! ok


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.gain = nn.Parameter(torch.ones(dim // heads))

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        return flash_attn_func(scale(q, self.gain), k, v)
