# run: go(Block(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, d = x.shape
        residual = x.to(torch.float32)  # expect: attention-mixed-dtypes
        q = self.q(x).view(b, n, self.heads, -1)
        k = self.k(x).view(b, n, self.heads, -1)
        v = residual.view(b, n, self.heads, -1)  #! bad
        v = residual.view(b, n, self.heads, -1).to(q.dtype)  #! ok
        return flash_attn_func(q, k, v)
