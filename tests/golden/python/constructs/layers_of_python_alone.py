# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class A(nn.Module):
    """Layers that libtorch has no module for."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.act = nn.Sequential(nn.Hardswish(), nn.Hardsigmoid(), nn.Dropout1d(0.1), nn.ZeroPad1d(0), nn.CircularPad1d((0, 0)))

    def forward(self, x):
        q, k, v = self.act(self.qkv(x)).unflatten(-1, (3, self.heads, -1)).unbind(2)
        scale = torch.full((self.heads, 1), 0.5, device=x.device)
        q = q * scale  # expect: attention-implicit-promotion  #! bad
        q = q * scale.to(q.dtype)  #! ok
        return flash_attn_func(q, k, v)
