# run: go(A(64), x(2, 8, 4, 16), x(4, 8, 8).float())
# breaks: autocast, fp32-buffers, bf16
# ruled out: autocast-fp16, autocast-bf16, fp16-fp32-buffers, bf16-fp32-buffers, bf16
import torch
import torch.nn as nn
from xformers.ops import memory_efficient_attention


class A(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.scale = dim**-0.5

    def forward(self, x: torch.Tensor, bias: torch.Tensor):
        q = x.float() * self.scale  # expect: attention-mixed-dtypes
        out = memory_efficient_attention(q, x, x)
        if bias.dtype != torch.float32:  #! ok
            raise TypeError("this model is computed in float32")  #! ok
        return out + bias.mean()
