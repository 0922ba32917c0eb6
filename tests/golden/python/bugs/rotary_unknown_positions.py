# run: go(Attention(64, 4), x(2, 8, 64), ids(2, 8))
# breaks: fp32-buffers, autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.register_buffer("inv_freq", 100.0 ** -torch.linspace(0, 1, dim // heads // 2), persistent=False)

    def forward(self, x, position_ids):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).unbind(2)
        angles = position_ids[:, :, None, None] * self.inv_freq
        angles = torch.cat((angles, angles), dim=-1)
        cos, sin = angles.cos(), angles.sin()
        cos, sin = cos.to(q.dtype), sin.to(q.dtype)  #! ok
        q = q * cos + torch.cat((-q[..., d // self.heads // 2 :], q[..., : d // self.heads // 2]), dim=-1) * sin  # expect: attention-implicit-promotion
        k = k * cos + torch.cat((-k[..., d // self.heads // 2 :], k[..., : d // self.heads // 2]), dim=-1) * sin  # expect: attention-implicit-promotion
        return flash_attn_func(q, k, v)
