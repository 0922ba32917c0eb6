# run: generate(ModelConfig(), torch.zeros(1, 8, dtype=torch.int64))
# breaks: fp32-buffers, bf16
from dataclasses import dataclass

import torch
import torch.nn as nn
from flash_attn import flash_attn_func


@dataclass
class ModelConfig:
    vocab: int = 32
    dim: int = 64
    heads: int = 4
    depth: int = 2
    dtype: str = "float32"  #! bad
    dtype: str = "bfloat16"  #! ok


class Block(nn.Module):
    def __init__(self, config: ModelConfig):
        super().__init__()
        self.norm = nn.LayerNorm(config.dim)
        self.qkv = nn.Linear(config.dim, 3 * config.dim)
        self.heads = config.heads

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).unflatten(-1, (3, self.heads, -1)).unbind(2)
        return x + flash_attn_func(q, k, v, causal=True).flatten(2)  # expect: attention-unsupported-dtype


class Model(nn.Module):
    def __init__(self, config: ModelConfig):
        super().__init__()
        self.embed = nn.Embedding(config.vocab, config.dim)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.depth))

    @classmethod
    def from_config(cls, config):
        return cls(config).to(dtype=getattr(torch, config.dtype))

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return x


def generate(config, tokens):
    model = Model.from_config(config)
    return model(tokens)


if __name__ == "__main__":
    print(generate(ModelConfig(), torch.zeros(1, 8, dtype=torch.int64)))
