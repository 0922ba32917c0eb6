# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
# fixed: yes
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    """Queries that are sums over parts, in float32 as sums are: the call alone wants them narrow."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, 3 * dim)

    def summed(self, q):
        total = torch.zeros_like(q, dtype=torch.float32)
        for part in (q, q.flip(1)):
            total = total + part.float().softmax(-1)  # expect: attention-mixed-dtypes
        return total / total.sum(-1, keepdim=True)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = self.summed(q)
        return flash_attn_func(q, k, v)  #! bad
        return flash_attn_func(q.to(k.dtype), k, v)  #! ok
