# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


def scaled(q, how):
    match how:
        case "l2" | "unit":
            return F.normalize(q, dim=-1)  # expect: autocast-fp32-operator  #! bad
            return F.normalize(q, dim=-1).to(q.dtype)  #! ok
        case None:
            return q
        case _:
            return q.float()


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        return flash_attn_func(scaled(q, "unit"), scaled(k, None), v)
