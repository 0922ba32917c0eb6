# run: go(Attention(64), x(2, 8, 64), x(64, 192))
# breaks: autocast, fp32-buffers
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("gain", torch.ones(dim // 4))

    def forward(self, x, weights):
        q, k, v = (x @ weights).unflatten(-1, (3, 4, -1)).unbind(2)
        q = q * self.gain  # expect: attention-implicit-promotion  #! bad
        q = q * self.gain.to(q.dtype)  #! ok
        return flash_attn_func(q, k, v)
