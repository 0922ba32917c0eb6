# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Settings:
    WIDE = False


def widen():
    Settings.WIDE = True  #! bad
    Settings.DEEP = True  #! ok


widen()


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        if Settings.WIDE:
            q = q.float()  # expect: attention-mixed-dtypes
        return F.scaled_dot_product_attention(q, k, v)
