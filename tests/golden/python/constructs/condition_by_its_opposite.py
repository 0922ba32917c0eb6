# run: go(A(64, 4), x(2, 8, 64), 4)
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x, steps: int):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        if steps < 4:
            return flash_attn_func(q, k, v)
        if not steps > 5:
            q = q.float() * 2  # expect: attention-mixed-dtypes  #! bad
            q = (q.float() * 2).to(k.dtype)  #! ok
        return flash_attn_func(q, k, v)
