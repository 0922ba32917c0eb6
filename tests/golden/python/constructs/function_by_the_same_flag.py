# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


def as_it_is(t, other):
    return t


def like(t, other):
    return t.to(other.dtype)


class Attention(nn.Module):
    """A function that is called is there where what it was chosen by is so, and then so is what it is handed."""

    def __init__(self, dim, wide: bool = True):
        super().__init__()
        self.wide, self.qkv = wide, nn.Linear(dim, dim * 3)
        self.back = like if wide else as_it_is  #! ok
        self.back = as_it_is if wide else like  #! bad

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        if self.wide:
            q = q.float()  # expect: attention-mixed-dtypes
        q = self.back(q, v)
        return F.scaled_dot_product_attention(q, k, v)
