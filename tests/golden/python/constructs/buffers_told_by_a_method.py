# run: run(x)
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F


class Cache(nn.Module):
    def __init__(self, batch, length, dtype=torch.bfloat16):
        super().__init__()
        shape = (batch, 4, length, 16)
        self.register_buffer("keys", torch.zeros(shape))  # expect: kv-cache-dtype-mismatch  #! bad
        self.register_buffer("keys", torch.zeros(shape, dtype=dtype))  #! ok

    def update(self, at, k):
        assert at.shape[0] == k.shape[2]
        keys = self.keys
        keys[:, :, at] = k
        return keys


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self.cache = None

    def forward(self, x, at):
        q, k, v = self.qkv(x).view(*x.shape[:-1], 3, 4, -1).permute(2, 0, 3, 1, 4).unbind(0)
        if self.cache is not None:
            k = self.cache.update(at, k)
        return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.layers = nn.ModuleList([Attention(dim) for _ in range(2)])

    def start(self, batch, length, dtype=torch.bfloat16):
        for layer in self.layers:
            layer.cache = Cache(batch, length, dtype=dtype)

    def forward(self, x, at):
        for layer in self.layers:
            x = layer(x, at)
        return x


def run(x):
    model = Model(64).to(x(1).dtype)
    model.start(2, 8, (x(2, 64) @ x(64, 64)).dtype)
    return model(x(2, 8, 64), torch.arange(8))
