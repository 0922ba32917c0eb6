"""apply_rotary_emb as flash-attn has it before 2.8 (`checks` is true), and after."""
import torch

from ..stood_in import say

checks = True


class ApplyRotaryEmb(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, cos, sin, interleaved=False, inplace=False):
        say(x)
        if checks:
            assert x.dtype == cos.dtype, f"Input and cos/sin must have the same dtype, got {x.dtype} and {cos.dtype}"
        c, s = cos[:, None].to(x.dtype), sin[:, None].to(x.dtype)
        first, second = x.chunk(2, -1)
        return torch.cat((first * c - second * s, first * s + second * c), -1)


def apply_rotary_emb(x, cos, sin, interleaved=False, inplace=False):
    return ApplyRotaryEmb.apply(x, cos, sin, interleaved, inplace)
