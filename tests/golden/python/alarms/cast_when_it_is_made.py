# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
# false alarm: __post_init__ of a dataclass and setters of properties of other objects are not run
from dataclasses import dataclass

import torch
from torch import nn
import torch.nn.functional as F


@dataclass
class Query:
    q: torch.Tensor
    dtype: torch.dtype

    def __post_init__(self):
        self.q = self.q.to(self.dtype)


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        q = Query(q.float(), v.dtype).q  # falsely: attention-mixed-dtypes
        k = k.double()  # expect: attention-mixed-dtypes  #! bad
        return F.scaled_dot_product_attention(q, k, v)
