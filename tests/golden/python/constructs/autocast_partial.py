# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
from functools import partial

import torch
import torch.nn as nn
from flash_attn import flash_attn_func

autocast = partial(torch.amp.autocast, "cuda")


@autocast(enabled=False)
def rotate(t, table):
    table = table.float()
    out = t * table.cos() + t.flip(-1) * table.sin()  # expect: attention-implicit-promotion  #! bad
    out = (t * table.cos() + t.flip(-1) * table.sin()).type(t.dtype)  #! ok
    return out


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        with autocast(enabled=False):
            table = torch.ones(q.shape, device=q.device)
        return flash_attn_func(rotate(q, table), k, v)
