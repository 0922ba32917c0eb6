# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
# false alarm: what a branch counts, or appends to a list, does not tell later that it was taken
import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim, wide: bool = True):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)
        self.wide = wide

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        widened = []
        if self.wide:
            q = q.float()  # falsely: attention-mixed-dtypes
            widened.append("q")
        if widened:
            q = q.to(v.dtype)
        k = k.double()  # expect: attention-mixed-dtypes  #! bad
        return F.scaled_dot_product_attention(q, k, v)
