# run: run(x)
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F


class DefaultDtype:
    def __init__(self, dtype):
        self.dtype = dtype

    def __enter__(self):
        self.before = torch.get_default_dtype()
        torch.set_default_dtype(self.dtype)

    def __exit__(self, *error):
        torch.set_default_dtype(self.before)


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
        cache.keys[:, :8] = q
        return F.scaled_dot_product_attention(q, cache.keys, q)


def run(x):
    dtype = x(1).dtype
    with DefaultDtype(dtype):
        model, cache = Attention(64), Cache((2, 8, 64))
    return model(x(2, 8, 64), cache)
