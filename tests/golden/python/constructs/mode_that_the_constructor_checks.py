# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16, autocast
"""What is behind the return is for modes that the constructor refuses."""
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim, heads, mode="rope", side="left"):
        super().__init__()
        assert side == "left", side
        if mode != "rope":
            raise NotImplementedError(mode)
        self.mode, self.side = mode, side
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).unbind(2)
        table = torch.ones(n, 1, 1, device=x.device)
        if self.mode == "rope":
            q = q * table  # expect: attention-implicit-promotion  #! bad
            q = q * table.to(q.dtype)  #! ok
            return flash_attn_func(q, k, v)
        q = q * table
        if self.side != "left":
            k = k * table
        return flash_attn_func(q, k, v)
