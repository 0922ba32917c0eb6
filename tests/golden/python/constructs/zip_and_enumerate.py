# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
# fixed: yes
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        wide = torch.full((1, 1, 1, 1), 2.0, dtype=torch.float32, device=x.device)
        half = wide.to(q.dtype)
        q, k, v = (t * s for t, s in zip((q, k, v), (wide, half, half)))  # expect: attention-implicit-promotion  #! bad
        q, k, v = (t * s for t, s in zip((q, k, v), (half, half, half)))  #! ok
        parts = [t + i for i, t in enumerate((q, k, v))]
        return flash_attn_func(*parts)
