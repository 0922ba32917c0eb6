# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
# false alarm: del, pop and insert of a list leave its elements where they were
import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        kept = [q.float(), q]  # falsely: attention-mixed-dtypes
        del kept[0]
        q = kept[0]
        k = k.double()  # expect: attention-mixed-dtypes  #! bad
        return F.scaled_dot_product_attention(q, k, v)
