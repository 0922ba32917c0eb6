# run: go(Block(64), x(2, 8, 64), x(2, 64))
# breaks: autocast, fp32-buffers, bf16
# ruled out: fp16-fp32-buffers, bf16-fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.shift = nn.Linear(dim, dim)
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x, t):
        with torch.autocast("cuda", dtype=torch.float32):
            e = self.shift(t.float())
        q, k, v = self.qkv(x + e[:, None]).unflatten(-1, (3, 4, -1)).unbind(2)
        gate = e.unflatten(-1, (4, -1))[:, None]
        q = q * gate  # expect: attention-implicit-promotion  #! bad
        q = q * gate.to(q.dtype)  #! ok
        return flash_attn_func(q, k, v)
