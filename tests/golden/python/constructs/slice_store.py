# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        out = torch.zeros(k.shape, device=k.device)  # expect: attention-mixed-dtypes  #! bad
        out = torch.zeros_like(k)  #! ok
        out[:, 1:] = k[:, :-1]
        return flash_attn_func(q, out, v)
