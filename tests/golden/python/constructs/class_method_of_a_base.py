# run: go(Attention(64), x(2, 8, 4, 64))
# breaks: fp32-buffers, autocast
import torch
from torch import nn
from flash_attn import flash_attn_func


class Scaled:
    @classmethod
    def by(cls, x, factor):
        return x * factor  # expect: attention-implicit-promotion  #! bad
        return x * factor.to(x.dtype)  #! ok


class Queries(Scaled):
    pass


class Attention(nn.Module):
    """A class method that a class inherits, and that asks nothing of the class that it is called on."""

    def __init__(self, dim):
        super().__init__()
        self.register_buffer("factor", torch.full((dim,), 0.5))

    def forward(self, x: torch.Tensor):
        return flash_attn_func(Queries.by(x, self.factor), x, x)
