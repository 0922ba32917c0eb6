# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16, autocast
import copy

import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Table:
    def __init__(self, row):
        self.rows = [row]

    def widen(self):
        self.rows[0] = self.rows[0].float()  # expect: attention-mixed-dtypes


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        table = Table(q.new_ones(q.shape[-1]))
        exact = copy.deepcopy(table)
        exact.widen()
        q = q * exact.rows[0]  #! bad
        q = q * table.rows[0]  #! ok
        return flash_attn_func(q, k, v)
