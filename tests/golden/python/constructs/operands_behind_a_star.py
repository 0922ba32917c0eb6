# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16, autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, 3 * dim)

    def forward(self, x):
        qkv = self.qkv(x).unflatten(-1, (3, self.heads, -1))
        qkv = qkv * torch.full((1,), 0.5, device=x.device)  # expect: attention-implicit-promotion  #! bad
        qkv = qkv * torch.full((1,), 0.5, device=x.device, dtype=qkv.dtype)  #! ok
        return flash_attn_func(*qkv.unbind(2), causal=True)
