# run: go(Attention(64), x(2, 8, 4, 64), x(2, 8, 4, 64), None, x(2, 8, 4, 64))
# breaks: fp32-buffers, autocast
from typing import Union

import torch
from torch import nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    """What is annotated with a union of tensors, or of one and None, is a tensor."""

    def __init__(self, dim: int):
        super().__init__()
        self.register_buffer("scale", torch.full((dim,), 0.5))

    def forward(
        self,
        q: Union[torch.Tensor, torch.FloatTensor],
        k: Union[torch.FloatTensor, "torch.Tensor"],
        bias: Union[torch.Tensor, None],
        v: torch.Tensor | torch.FloatTensor,
    ):
        if bias is not None:
            q = q + bias
        q = q * self.scale  # expect: attention-implicit-promotion  #! bad
        q = q * self.scale.to(q.dtype)  #! ok
        return flash_attn_func(q, k, v)
