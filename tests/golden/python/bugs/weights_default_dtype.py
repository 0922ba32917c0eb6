# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16, autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim, heads, registers=4):
        super().__init__()
        self.heads, self.registers = heads, registers
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).unbind(2)
        sink = torch.zeros(b, self.registers, self.heads, d // self.heads, device=x.device)  #! bad
        sink = torch.zeros(b, self.registers, self.heads, d // self.heads, device=x.device, dtype=k.dtype)  #! ok
        k = torch.cat([sink, k], dim=1)  # expect: attention-implicit-promotion
        v = torch.cat([sink, v], dim=1)  # expect: attention-implicit-promotion
        return flash_attn_func(q, k, v)
