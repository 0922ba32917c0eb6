# run: go(A(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16
# missed: operands of `nn.MultiheadAttention` that differ: where a field that holds one is called, its contract is not looked up
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
        q = h + position  #! bad
        q = h + position.to(h.dtype)  #! ok
        return self.attention(q, h, h)[0]  # expect: attention-mixed-dtypes
