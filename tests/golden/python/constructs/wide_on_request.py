# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.register_buffer("gain", torch.ones(heads, 1), persistent=False)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = q * self.gain
        q = q.float()  # expect: attention-mixed-dtypes
        q = q - q.mean(-1, keepdim=True)
        q = q.contiguous()  #! bad
        q = q.type_as(v)  #! ok
        return flash_attn_func(q, k, v)
