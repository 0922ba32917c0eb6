# run: go(A(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.attention = nn.MultiheadAttention(dim, heads, batch_first=True)

    def forward(self, x):
        h = self.norm(x)
        position = torch.linspace(0, 1, h.shape[-1], device=h.device)
        q = h + position  # expect: attention-implicit-promotion  #! bad
        q = h + position.to(h.dtype)  #! ok
        return self.attention(q, h, h)[0]
