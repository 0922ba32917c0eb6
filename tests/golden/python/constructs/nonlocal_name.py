# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)

        def normalize():
            nonlocal q
            q = F.normalize(q, dim=-1)  # expect: autocast-fp32-operator  #! bad
            q = F.normalize(q, dim=-1).to(k.dtype)  #! ok

        normalize()
        return flash_attn_func(q, k, v)
