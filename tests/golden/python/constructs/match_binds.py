# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        match (F.normalize(q, dim=-1), {"k": k, "v": v}):  # expect: autocast-fp32-operator  #! bad
        match (F.normalize(q, dim=-1).to(v.dtype), {"k": k, "v": v}):  #! ok
            case (query, {"k": key, "v": value}):
                return flash_attn_func(query, key, value)
