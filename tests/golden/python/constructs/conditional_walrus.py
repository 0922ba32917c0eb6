# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads, cosine=True):
        super().__init__()
        self.heads, self.qkv, self.cosine = heads, nn.Linear(dim, dim * 3), cosine

    def forward(self, x):
        if (n := x.shape[1]) == 0:
            return x
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = F.normalize(q, dim=-1) if self.cosine else q  # expect: autocast-fp32-operator  #! bad
        q = F.normalize(q, dim=-1).to(q.dtype) if self.cosine else q  #! ok
        return flash_attn_func(q, k, v, window_size=(n, n))
