# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Up(nn.Module):
    def forward(self, t):
        return t.float()  # expect: attention-mixed-dtypes


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)
        self.layers = nn.ModuleList([nn.Identity(), Up()])

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        for layer in self.layers[1:]:  #! bad
        for layer in self.layers[:1]:  #! ok
            q = layer(q)
        return F.scaled_dot_product_attention(q, k, v)
