# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.gate = nn.Buffer(torch.ones(1, 1, heads, 1), persistent=False)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = q * self.gate  # expect: attention-implicit-promotion  #! bad
        q = q * self.gate.to(q.dtype)  #! ok
        return flash_attn_func(q, k, v)
