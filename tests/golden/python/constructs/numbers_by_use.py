# run: go(Attention(SimpleNamespace(hidden_size=64, num_attention_heads=4)), x(2, 8, 64))
# breaks: autocast, fp32-buffers
from types import SimpleNamespace

import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    """The class of its configuration is not in sight; layers made of its fields say that these are numbers."""

    def __init__(self, config):
        super().__init__()
        self.qkv = nn.Linear(config.hidden_size, 3 * config.hidden_size)
        self.heads = config.num_attention_heads
        self.head_dim = config.hidden_size // config.num_attention_heads
        self.scale = self.head_dim ** -0.5
        self.register_buffer("gain", torch.ones(self.head_dim))

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = q * self.scale * self.gain  # expect: attention-implicit-promotion  #! bad
        q = q * self.scale * self.gain.to(q.dtype)  #! ok
        return flash_attn_func(q, k, v)
