# run: go(Attention(), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Norm(nn.LayerNorm):
    def __init__(self, dim):
        super().__init__(dim, eps=1e-5)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(64, 64)
        self.norm = Norm(16)

    def forward(self, x):
        k = self.query(x).unflatten(-1, (4, 16))
        q = self.norm(k)  # expect: autocast-fp32-operator  #! bad
        q = self.norm(k).to(k.dtype)  #! ok
        return flash_attn_func(q, k, k)
