# run: run(x)
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.half()

    def forward(self, x):
        q, k, v = self.qkv(x.half()).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = q.to(torch.float32)  # expect: attention-mixed-dtypes  #! bad
        return flash_attn_func(q, k, v)


def run(x):
    return A(64, 4)(x(2, 8, 64))
