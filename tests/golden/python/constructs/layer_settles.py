# run: go(Attention(64, 4, "silu"), x(2, 8, 64))
# breaks: fp32-buffers, autocast
import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


class Attention(nn.Module):
    """Nothing is known of what the activation gives; the layer behind it gives what its weight is, or throws."""

    def __init__(self, dim, heads, activation):
        super().__init__()
        self.heads = heads
        self.activation = getattr(F, activation)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.register_buffer("gain", torch.ones(dim // heads), persistent=False)

    def forward(self, x):
        q, k, v = self.qkv(self.activation(x)).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = q * self.gain  # expect: attention-implicit-promotion  #! bad
        q = q * self.gain.to(q.dtype)  #! ok
        return flash_attn_func(q, k, v)
