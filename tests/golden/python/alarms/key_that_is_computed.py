# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
# false alarm: a key that is computed, an f-string or an element of a list, may be any key of a dictionary
import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        names = ["plain", "wide"]
        kept = {"plain": q, "wide": q.float()}  # falsely: attention-mixed-dtypes
        q = kept[names[0]]
        k = k.double()  # expect: attention-mixed-dtypes  #! bad
        return F.scaled_dot_product_attention(q, k, v)
