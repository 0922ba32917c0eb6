# run: run(x)
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).view(2, 8, 3, 4, 16).unbind(dim=2)
        parts = {"q": q, "k": k, "wide": v.float()}
        for name in ("q", "wide"):
            parts[name] = parts[name] * torch.ones(16, device=x.device)  # expect: attention-implicit-promotion  #! bad
            parts[name] = parts[name].abs()  #! ok
        return flash_attn_func(parts["q"], parts["k"], v)


def run(x):
    return Attention(64).to(x(1).dtype)(x(2, 8, 64))
