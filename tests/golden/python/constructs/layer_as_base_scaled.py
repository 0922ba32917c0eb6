# run: go(Model(32, 64), ids(2, 8))
# breaks: fp32-buffers
import torch
import torch.nn as nn
import xformers.ops as xops


class ScaledEmbedding(nn.Embedding):
    def __init__(self, count, width, padding_idx, scale: float = 1.0):
        super().__init__(count, width, padding_idx)
        self.register_buffer("scale", torch.tensor(scale), persistent=False)

    def forward(self, tokens):
        return super().forward(tokens) * self.scale.to(self.weight.dtype)


class Model(nn.Module):
    def __init__(self, count, width):
        super().__init__()
        self.embed = ScaledEmbedding(count, width, 0, scale=width**0.5)
        self.register_buffer("angles", torch.ones(16), persistent=False)

    def forward(self, tokens):
        q = self.embed(tokens).unflatten(-1, (4, 16))
        return xops.memory_efficient_attention(q * self.angles, q, q)  # expect: attention-implicit-promotion  #! bad
        return xops.memory_efficient_attention(q * self.angles.to(q.dtype), q, q)  #! ok
