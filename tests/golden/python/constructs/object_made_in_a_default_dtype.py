# run: run(x)
# breaks: fp32-buffers, bf16
import contextlib

import torch
import torch.nn as nn
import torch.nn.functional as F


@contextlib.contextmanager
def default_dtype(dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


class Cache:
    def __init__(self, shape):
        self.keys = torch.zeros(shape)  #! ok
        self.keys = torch.zeros(shape, dtype=torch.float32)  # expect: attention-mixed-dtypes  #! bad


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q = nn.Linear(dim, dim)

    def forward(self, x, cache: Cache):
        q = self.q(x)
        return F.scaled_dot_product_attention(q, cache.keys, q)


def run(x):
    dtype = x(1).dtype
    with default_dtype(dtype):
        cache = Cache((2, 8, 64))
    return Attention(64).to(dtype)(x(2, 8, 64), cache)
