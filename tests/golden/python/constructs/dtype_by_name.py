# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
# missed: a dtype by `getattr(torch, name)`
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads, dtype="float32"):  #! bad
    def __init__(self, dim, heads, dtype="bfloat16"):  #! ok
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.dtype = getattr(torch, dtype)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q, k, v = q.to(self.dtype), k.to(self.dtype), v.to(self.dtype)
        return flash_attn_func(q, k, v)  # expect: attention-unsupported-dtype
