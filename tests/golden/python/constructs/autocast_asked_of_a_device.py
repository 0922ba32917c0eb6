# run: run(x)
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)
        self.norm = nn.LayerNorm(16)

    def forward(self, x):
        q, k, v = self.qkv(x).view(2, 8, 3, 4, 16).unbind(2)
        q, k = self.norm(q), self.norm(k)
        kind = q.device.type
        if q.dtype == torch.float32:
            target = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else self.qkv.weight.dtype
            q, k, v = q.to(target), k.to(target), v.to(target)
        q = q * torch.ones(16, device=q.device)  # expect: attention-implicit-promotion  #! bad
        q = q * torch.ones(16, device=q.device, dtype=q.dtype)  #! ok
        return flash_attn_func(q, k, v)


def run(x):
    return Attention(64).to(x(1).dtype)(x(2, 8, 64))
