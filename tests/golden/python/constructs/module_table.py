# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16, autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func

theta = 1.0 / 10000.0 ** (torch.arange(0, 16, 2).float() / 16)
angles = torch.outer(torch.arange(8).float(), theta).repeat(1, 2)[:, None, :]
COS, SIN = angles.cos(), angles.sin()


def rotate(x):
    a, b = x.chunk(2, dim=-1)
    return x * COS + torch.cat((-b, a), dim=-1) * SIN  # expect: attention-implicit-promotion  #! bad
    return x * COS.to(x.dtype) + torch.cat((-b, a), dim=-1) * SIN.to(x.dtype)  #! ok


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        return flash_attn_func(rotate(q), rotate(k), v)
