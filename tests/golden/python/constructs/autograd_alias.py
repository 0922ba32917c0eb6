# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class RoundTrip(torch.autograd.Function):
    @staticmethod
    def forward(x, scale):
        return x.float() * scale  # expect: attention-mixed-dtypes  #! bad
        return (x.float() * scale).to(x.dtype)  #! ok

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.scale = inputs[1]

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.scale, None


round_trip = RoundTrip.apply


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        return flash_attn_func(round_trip(q, 2.0), k, v)
