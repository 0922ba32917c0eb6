# run: go(Model(Config()), ids(2, 8))
# breaks: autocast
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


@dataclass
class Config:
    vocab_size: int = 32
    hidden_size: int = 64
    num_heads: int = 4
    embedding_multiplier: float = 8.0
    residual_multiplier: int | float = 1
    logits_scaling: float | None = None
    layer_types: list = field(default_factory=lambda: ["full", "normed"])


class PlainAttention(nn.Module):
    def __init__(self, config: Config, index: int):
        super().__init__()
        self.config, self.index = config, index
        self.heads = config.num_heads
        self.q, self.k, self.v = (nn.Linear(config.hidden_size, config.hidden_size) for _ in range(3))

    def project(self, x):
        split = lambda t: t.view(*t.shape[:2], self.heads, -1)
        return split(self.q(x)), split(self.k(x)), split(self.v(x))

    def forward(self, x):
        q, k, v = self.project(x)
        return flash_attn_func(q, k, v, causal=True).flatten(2)


class NormedAttention(PlainAttention):
    def project(self, x):
        q, k, v = super().project(x)
        q = F.layer_norm(q, q.shape[-1:])  # expect: autocast-fp32-operator  #! bad
        k = F.layer_norm(k, k.shape[-1:])  # expect: autocast-fp32-operator  #! bad
        q, k = F.layer_norm(q, q.shape[-1:]).to(v.dtype), F.layer_norm(k, k.shape[-1:]).to(v.dtype)  #! ok
        return q, k, v


ATTENTION_CLASSES = {"full": PlainAttention, "normed": NormedAttention}


class Layer(nn.Module):
    def __init__(self, config: Config, index: int):
        super().__init__()
        self.attention = ATTENTION_CLASSES[config.layer_types[index]](config, index)
        self.residual_multiplier = config.residual_multiplier

    def forward(self, x):
        return x + self.attention(x) * self.residual_multiplier


class Model(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList([Layer(config, index) for index in range(len(config.layer_types))])

    def forward(self, tokens):
        x = self.embed(tokens) * self.config.embedding_multiplier
        for layer in self.layers:
            x = layer(x)
        return x if self.config.logits_scaling is None else x / self.config.logits_scaling
