# run: decode(go, x)
# breaks: fp32-buffers, bf16, autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class CacheBase:
    def __init__(self, layers, **factory):
        self.layers = [self.make(**factory) for _ in range(layers)]

    def make(self, **factory):
        raise NotImplementedError

    def update(self, layer, position, k, v):
        raise NotImplementedError


class StaticCache(CacheBase):
    def make(self, batch=1, length=16, heads=4, head_dim=16, dtype=None, device=None):
        shape = (batch, length, heads, head_dim)
        return {"k": torch.zeros(shape, dtype=dtype, device=device), "v": torch.zeros(shape, dtype=dtype, device=device)}  # expect: attention-mixed-dtypes

    def update(self, layer, position, k, v):
        kept = self.layers[layer]
        end = position + k.shape[1]
        kept["k"][:, position:end] = k
        kept["v"][:, position:end] = v
        return kept["k"][:, :end], kept["v"][:, :end]


class Attention(nn.Module):
    def __init__(self, dim, heads, index):
        super().__init__()
        self.heads, self.index = heads, index
        self.qkv = nn.Linear(dim, dim * 3)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, cache, position):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        k, v = cache.update(self.index, position, k, v)
        return self.out(flash_attn_func(q, k, v).flatten(2))


class Decoder(nn.Module):
    def __init__(self, dim=64, heads=4, depth=2):
        super().__init__()
        self.dim, self.heads = dim, heads
        self.layers = nn.ModuleList([Attention(dim, heads, i) for i in range(depth)])

    def forward(self, x):
        factory = {"batch": x.shape[0], "heads": self.heads, "head_dim": self.dim // self.heads, "device": x.device}
        factory["dtype"] = torch.get_default_dtype()  #! bad
        factory["dtype"] = self.layers[0].qkv(x).dtype  #! ok
        cache = StaticCache(len(self.layers), **factory)
        for layer in self.layers:
            x = x + layer(x, cache, 0)
        return x


def decode(go, x):
    return go(Decoder(), x(2, 1, 64))
