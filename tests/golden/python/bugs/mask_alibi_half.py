# run: go(AlibiAttention(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
# missed: a bias that a cast makes half where float32 is wanted is found only in settings that the user names, for a cast asks for what it gives
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class AlibiAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).unbind(2)
        slopes = 2.0 ** -torch.arange(1, self.heads + 1, device=x.device, dtype=torch.float32)
        slopes = slopes.to(q.dtype)  # expect: attention-mask-dtype  #! bad
        return flash_attn_func(q, k, v, causal=True, alibi_slopes=slopes)
