# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.temperature = torch.ones(1, 1, heads, 1)  # expect: unregistered-buffer

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).unbind(2)
        q = q * self.temperature.to(x.device)  #! bad
        q = q * self.temperature.to(q)  #! ok
        return flash_attn_func(q, k, v)
