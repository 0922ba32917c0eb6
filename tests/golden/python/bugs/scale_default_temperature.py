# run: go(Attn(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attn(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, d // self.heads).unbind(2)
        temperature = torch.linspace(0.5, 1.0, self.heads, device=x.device).view(1, 1, -1, 1)
        q = q / temperature  # expect: attention-implicit-promotion  #! bad
        q = q / temperature.to(q)  #! ok
        return flash_attn_func(q, k, v)
