# run: (settle(), go(Attention(64, 4), x(2, 8, 64)))
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    scale_dtype = torch.float32
    narrow_dtype = torch.float32

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = q * torch.ones(1, dtype=type(self).scale_dtype)  # expect: attention-implicit-promotion  #! bad
        q = (q * torch.ones(1, dtype=Attention.narrow_dtype)).to(k.dtype)  #! ok
        return flash_attn_func(q, k, v)


def settle():
    Attention.narrow_dtype = torch.bfloat16
