# run: run(x)
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F


class Cache:
    def __init__(self, shape, dtype):
        self.keys = torch.zeros(shape)  # expect: kv-cache-dtype-mismatch  #! bad
        self.keys = torch.zeros(shape, dtype=dtype)  #! ok

    def update(self, at, k):
        return self.keys.index_copy_(1, at, k)


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self.cache = None

    def start(self, batch, length, dtype):
        self.cache = Cache((batch, length, 64), dtype)

    def reset(self):
        self.cache = None

    def forward(self, x, at):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        if self.cache is not None:
            k = self.cache.update(at, k)
        return F.scaled_dot_product_attention(q, k, v)


def run(x):
    model = Attention(64).to(x(1).dtype)
    model.start(2, 8, (x(2, 64) @ x(64, 64)).dtype)
    return model(x(2, 8, 64), torch.arange(8))
