# run: run(x)
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class QKNorm(nn.Module):
    def forward(self, q, k):
        return q * torch.ones(16, device=q.device), k  # expect: attention-implicit-promotion  #! bad
        return q * torch.ones(16, device=q.device, dtype=q.dtype), k  #! ok


class Parts(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = QKNorm()
        self.qkv = nn.Linear(dim, dim * 3)


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.attn = Parts(dim)

    def forward(self, x):
        q, k, v = self.attn.qkv(x).view(2, 8, 3, 4, 16).unbind(dim=2)
        q, k = self.attn.norm(q, k)
        return flash_attn_func(q, k, v)


def run(x):
    return Block(64).to(x(1).dtype)(x(2, 8, 64))
