# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)
        self.slopes = torch.Tensor([0.5] * 8)  # expect: unregistered-buffer

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        slopes = self.slopes[:, None]
        q = q * slopes  #! bad
        q = q * slopes.to(q.dtype)  #! ok
        return F.scaled_dot_product_attention(q, k, v)
