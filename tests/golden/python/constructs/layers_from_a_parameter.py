# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads, device=None, dtype=None, ops=None):
        super().__init__()
        ops = ops or nn
        self.heads = heads
        self.qkv = ops.Linear(dim, dim * 3, device=device, dtype=dtype)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        scale = torch.full((1,), 0.5, device=x.device)
        q = q * scale  # expect: attention-implicit-promotion  #! bad
        q = (q * scale).to(k.dtype)  #! ok
        return flash_attn_func(q, k, v)
