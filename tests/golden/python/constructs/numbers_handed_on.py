# run: go(Layer(SimpleNamespace(width=64, heads=4)), x(2, 8, 64))
# breaks: fp32-buffers, autocast
from types import SimpleNamespace

import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    """What it is handed for the size of its layers is a number, whatever its caller has it from."""

    def __init__(self, width, heads: int):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.scale = (width // heads) ** -0.5

    def forward(self, x, gain):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = q * self.scale * gain  # expect: attention-implicit-promotion  #! bad
        q = q * self.scale * gain.to(q.dtype)  #! ok
        return flash_attn_func(q, k, v)


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.width = config.width
        self.attention = Attention(self.width, config.heads)
        self.register_buffer("gain", torch.ones(1, 1), persistent=False)

    def forward(self, x):
        return self.attention(x, self.gain)
