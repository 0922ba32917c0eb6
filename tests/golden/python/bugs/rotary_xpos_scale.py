# run: go(XPosAttention(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class XPosAttention(nn.Module):
    def __init__(self, dim, heads, scale_base=512):
        super().__init__()
        self.heads, self.scale_base = heads, scale_base
        self.qkv = nn.Linear(dim, dim * 3)
        half = dim // heads
        self.register_buffer("scale", (torch.arange(0, half) + 0.4 * half) / (1.4 * half))

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).unbind(2)
        t = torch.arange(n, device=x.device)
        power = (t - n // 2) / self.scale_base
        scale = self.scale ** power[:, None]
        scale = scale[None, :, None, :]
        q = q * scale  # expect: attention-implicit-promotion  #! bad
        k = k / scale  # expect: attention-implicit-promotion  #! bad
        q = (q * scale).to(v.dtype)  #! ok
        k = (k / scale).to(v.dtype)  #! ok
        return flash_attn_func(q, k, v)
