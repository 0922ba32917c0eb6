# run: go(VisionAttention(64, 4), x(2, 8, 64))
# breaks: bf16
# library: flash_attn=2.7
import torch
import torch.nn as nn
from flash_attn.layers.rotary import apply_rotary_emb
from flash_attn import flash_attn_func


def apply_rotary_flash(q, freqs):
    x = q.float()  # expect: rotary-dtype-mismatch
    cos = freqs.cos()  #! bad
    sin = freqs.sin()  #! bad
    cos = freqs.cos().type_as(x)  #! ok
    sin = freqs.sin().type_as(x)  #! ok
    return apply_rotary_emb(x, cos, sin).type_as(q)


class VisionAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        dim = dim // heads
        self.register_buffer("inv_freq", 1.0 / (10000.0 ** (torch.arange(0, dim, 2, dtype=torch.float) / dim)))

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, -1).unbind(2)
        seq = torch.arange(n, device=x.device, dtype=self.inv_freq.dtype)
        freqs = torch.outer(seq, self.inv_freq)
        q = apply_rotary_flash(q, freqs)
        k = apply_rotary_flash(k, freqs)
        return flash_attn_func(q, k, v)
