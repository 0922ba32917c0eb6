# run: go(A(64, 4, 3), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads, layer):
        super().__init__()
        self.heads, self.layer, self.cache = heads, layer, {}
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        if self.layer not in self.cache:
            self.cache[self.layer] = torch.zeros_like(k[:, :1], dtype=torch.float32)  #! bad
            self.cache[self.layer] = torch.zeros_like(k[:, :1])  #! ok
        k = torch.cat([self.cache[self.layer], k], dim=1)  # expect: attention-implicit-promotion  #! bad
        k = torch.cat([self.cache[self.layer].to(k.dtype), k], dim=1)  #! ok
        return flash_attn_func(q, k[:, 1:], v)
