# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
# false alarm: that the last round of a loop casts what each of them widens is not worked out
import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim, count: int = 2):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)
        self.count = count

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        for i in range(self.count):
            q = q.float()  # falsely: attention-mixed-dtypes
            if i == self.count - 1:
                q = q.to(v.dtype)
        k = k.double()  # expect: attention-mixed-dtypes  #! bad
        return F.scaled_dot_product_attention(q, k, v)
