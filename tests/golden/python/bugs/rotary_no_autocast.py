# run: go(Layer(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers
import torch
import torch.nn as nn
import torch.nn.functional as F


class Rope(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("theta", 10000.0 ** (-torch.arange(0, dim, 2).float() / dim))

    @torch.autocast("cuda", enabled=False)
    def forward(self, x):
        n = x.shape[-2]
        freqs = torch.outer(torch.arange(n, device=x.device).type_as(self.theta), self.theta)
        freqs = torch.cat((freqs, freqs), dim=-1)
        a, b = x.chunk(2, dim=-1)
        out = x * freqs.cos() + torch.cat((-b, a), dim=-1) * freqs.sin()  # expect: attention-implicit-promotion  #! bad
        return out  #! bad
        out = x * freqs.cos() + torch.cat((-b, a), dim=-1) * freqs.sin()  #! ok
        return out.type(x.dtype)  #! ok


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.rope = Rope(dim // heads)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k = self.rope(q), self.rope(k)
        with torch.autocast("cuda", enabled=False):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
