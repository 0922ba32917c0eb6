# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
from flash_attn import flash_attn_func


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, base=10000, device=None):
        super().__init__()
        inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2, device=device).float() / dim))
        self.register_buffer("inv_freq", inv_freq, persistent=False)
        self.max_seq_len_cached = None
        self.cos_cached = None
        self.sin_cached = None

    def _update(self, x, seq_len):
        if self.cos_cached is None or seq_len > self.max_seq_len_cached:
            self.max_seq_len_cached = seq_len
            t = torch.arange(seq_len, device=x.device, dtype=torch.float32)
            freqs = torch.einsum("i,j->ij", t, self.inv_freq.float())
            emb = torch.cat((freqs, freqs), dim=-1)
            self.cos_cached = emb.cos()[None, :, None, :]  #! bad
            self.sin_cached = emb.sin()[None, :, None, :]  #! bad
            self.cos_cached = emb.cos()[None, :, None, :].to(x.dtype)  #! ok
            self.sin_cached = emb.sin()[None, :, None, :].to(x.dtype)  #! ok
        return self.cos_cached, self.sin_cached

    def forward(self, q, k):
        cos, sin = self._update(k, k.shape[1])
        return rotate(q, cos, sin), rotate(k, cos, sin)


def rotate(x, cos, sin):
    x1, x2 = x.chunk(2, dim=-1)
    return (x * cos) + (torch.cat((-x2, x1), dim=-1) * sin)  # expect: attention-implicit-promotion  #! bad
    return (x * cos) + (torch.cat((-x2, x1), dim=-1) * sin)  #! ok


class Attention(nn.Module):
    def __init__(self, dim, n_head):
        super().__init__()
        self.n_head = n_head
        self.c_attn = nn.Linear(dim, 3 * dim)
        self.rope = RotaryEmbedding(dim // n_head)

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(C, dim=2)
        q, k, v = [t.view(B, T, self.n_head, C // self.n_head) for t in (q, k, v)]
        q, k = self.rope(q, k)
        y = flash_attn_func(q, k, v, causal=True)
        return y.contiguous().view(B, T, C)
