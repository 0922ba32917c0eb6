# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16, autocast
import functools

import torch
import torch.nn as nn
from flash_attn import flash_attn_func


def in_float32(method):
    @functools.wraps(method)
    def inner(self, *args, **kwargs):
        args = [each.float() for each in args]  # expect: attention-mixed-dtypes  # expect: attention-unsupported-dtype
        with torch.autocast("cuda", enabled=False):
            return method(self, *args, **kwargs)
    return inner


def scaled_by(factor):
    def decorator(method):
        def inner(self, x):
            return method(self, x * factor).to(x.dtype)
        return inner
    return decorator


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    @in_float32
    def rotated(self, q, k):
        angles = torch.outer(torch.arange(q.shape[1]).float(), torch.ones(self.dim))
        cos = angles.cos()[None, :, None].to(q.device)
        return q * cos, k * cos

    @scaled_by(2.0)
    def widened(self, x):
        return x.float()


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.rotary = Rotary(dim // heads)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q, k = self.rotary.rotated(q, k)  #! bad
        q, k = (each.to(v.dtype) for each in self.rotary.rotated(q, k))  #! ok
        return flash_attn_func(q, k, self.rotary.widened(v))
