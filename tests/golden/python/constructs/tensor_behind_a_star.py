# run: run(x)
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


def scaled(q, k, v):
    q = q * torch.ones(16, device=q.device)  # expect: attention-implicit-promotion  #! bad
    q = q * torch.ones(16, device=q.device, dtype=q.dtype)  #! ok
    return q, k, v


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x):
        qkv = self.qkv(x).view(2, 8, 3, 4, 16).permute(2, 0, 1, 3, 4)
        return flash_attn_func(*scaled(*qkv))


def run(x):
    return Attention(64).to(x(1).dtype)(x(2, 8, 64))
