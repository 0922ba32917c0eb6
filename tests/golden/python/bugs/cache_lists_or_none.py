# run: decode(go, x)
# breaks: fp32-buffers, bf16
# fixed: yes
import torch
import torch.nn as nn
import torch.nn.functional as F


class Cache:
    def __init__(self, batch, length, dim, layers, dtype):
        shape = (batch, length, dim)
        self.keys = [torch.zeros(shape) for _ in range(layers)]  #! bad # expect: attention-mixed-dtypes
        self.keys = [torch.zeros(shape, dtype=dtype) for _ in range(layers)]  #! ok
        self.values = [torch.zeros(shape) for _ in range(layers)]  #! bad # expect: attention-mixed-dtypes
        self.values = [torch.zeros(shape, dtype=dtype) for _ in range(layers)]  #! ok

    def update(self, k, v, layer, start):
        self.keys[layer][:, start : start + k.shape[1]] = k
        self.values[layer][:, start : start + v.shape[1]] = v
        return self.keys[layer], self.values[layer]


class Attention(nn.Module):
    def __init__(self, dim, layer):
        super().__init__()
        self.layer = layer
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x, start, cache: Cache | None):
        q, k, v = self.q(x), self.k(x), self.v(x)
        if cache is not None:
            k, v = cache.update(k, v, self.layer, start)
        return F.scaled_dot_product_attention(q, k, v)


def decode(go, x):
    inputs = x(2, 8, 64)
    return go(Attention(64, 0), inputs, 0, Cache(2, 8, 64, 1, inputs.dtype))
