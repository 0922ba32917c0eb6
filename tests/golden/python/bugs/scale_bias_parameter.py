# run: go(BiasedAttention(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_varlen_func


class BiasedAttention(nn.Module):
    """A learned offset on the values, as in BEiT's v_bias without a fused projection."""

    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(dim, dim * 3, bias=False)
        self.v_bias = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        v = v + self.v_bias  # expect: attention-implicit-promotion  #! bad
        v = v + self.v_bias.type_as(v)  #! ok
        q, k, v = map(lambda t: t.reshape(b * n, self.num_heads, d // self.num_heads), (q, k, v))
        cu = torch.arange(0, (b + 1) * n, n, dtype=torch.int32, device=x.device)
        return flash_attn_varlen_func(q, k, v, cu, cu, n, n)
