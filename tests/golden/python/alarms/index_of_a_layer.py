# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
# false alarm: the index, the name or the class that a round asks for is not tied to the layer of that round
import torch
from torch import nn
import torch.nn.functional as F


class Up(nn.Module):
    def forward(self, t):
        return t.float()  # falsely: attention-mixed-dtypes


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)
        self.layers = nn.ModuleList([nn.Identity(), Up()])

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        for i, layer in enumerate(self.layers):
            q = layer(q)
            if i == 1:
                q = q.to(v.dtype)
        k = k.double()  # expect: attention-mixed-dtypes  #! bad
        return F.scaled_dot_product_attention(q, k, v)
