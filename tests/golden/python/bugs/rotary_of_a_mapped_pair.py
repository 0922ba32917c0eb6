# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers
import torch
import torch.nn.functional as F
from einops import rearrange
from torch import einsum, nn


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, theta=10000, xpos=False):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / (theta ** (torch.arange(0, dim, 2).float() / dim)))
        self.interpolation = 1.0

    @torch.autocast("cuda", enabled=False)
    def forward(self, n):
        t = torch.arange(n, device=self.inv_freq.device).type_as(self.inv_freq) / self.interpolation
        freqs = einsum("i , j -> i j", t, self.inv_freq)
        return torch.cat((freqs, freqs), dim=-1)

    def rotate(self, t, freqs):
        length, dtype = t.shape[-2], t.dtype
        freqs = freqs[-length:]
        turned = rearrange(t, "... (two d) -> two ... d", two=2)
        turned = torch.cat((-turned[1], turned[0]), dim=-1)
        t = t * freqs.cos() + turned * freqs.sin()  # expect: attention-implicit-promotion
        return t  #! bad
        return t.to(dtype)  #! ok


class Attend(nn.Module):
    def __init__(self, flash=True, dropout=0.0):
        super().__init__()
        self.flash, self.dropout = flash, dropout

    def forward(self, q, k, v):
        if self.flash:
            return F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.dropout if self.training else 0.0)
        sim = einsum("b h i d, b h j d -> b h i j", q, k) * q.shape[-1] ** -0.5
        return einsum("b h i j, b h j d -> b h i d", sim.softmax(-1).to(v.dtype), v)


class Attention(nn.Module):
    def __init__(self, dim, heads, flash=True):
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.to_out = nn.Linear(dim, dim, bias=False)
        self.rotary = RotaryEmbedding(dim // heads)
        self.attend = Attend(flash)

    def forward(self, x):
        q, k, v = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = map(lambda t: rearrange(t, "b n (h d) -> b h n d", h=self.heads), (q, k, v))
        freqs = self.rotary(x.shape[1])
        q, k = map(lambda t: self.rotary.rotate(t, freqs), (q, k))
        out = self.attend(q, k, v)
        return self.to_out(rearrange(out, "b h n d -> b n (h d)"))
