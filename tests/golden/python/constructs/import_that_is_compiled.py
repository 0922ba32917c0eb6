# run: run(x)
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func

flash_attn_func = torch.compiler.disable(flash_attn_func)


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).view(2, 8, 3, 4, 16).unbind(dim=2)
        q = q.float()  # expect: attention-mixed-dtypes  #! bad
        q = q.float().to(k.dtype)  #! ok
        return flash_attn_func(q, k, v)


def run(x):
    return Attention(64).to(x(1).dtype)(x(2, 8, 64))
