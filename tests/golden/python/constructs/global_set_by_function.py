# run: [narrow(), go(A(64, 4), x(2, 8, 64))]
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func

TABLE_DTYPE = torch.float32


def narrow():
    global TABLE_DTYPE
    TABLE_DTYPE = torch.bfloat16


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        table = torch.ones(1, dtype=torch.float32)  #! bad
        table = torch.ones(1, dtype=TABLE_DTYPE)  #! ok
        q = q * table  # expect: attention-implicit-promotion  #! bad
        q = q * table.to(q.dtype)  #! ok
        return flash_attn_func(q, k, v)
