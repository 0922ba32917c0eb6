# run: go(A(Config()), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
# missed: a property that gives a field of a dataclass with its default
from dataclasses import dataclass

import torch
import torch.nn as nn
from flash_attn import flash_attn_func


@dataclass
class Config:
    dim: int = 64
    heads: int = 4
    attention_dtype: torch.dtype = torch.float32  #! bad
    attention_dtype: torch.dtype = torch.bfloat16  #! ok

    @property
    def head_dim(self):
        return self.dim // self.heads


class A(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.qkv = nn.Linear(config.dim, config.dim * 3)

    @property
    def attention_dtype(self):
        return self.config.attention_dtype

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.config.heads, self.config.head_dim)).unbind(2)
        dtype = self.attention_dtype
        return flash_attn_func(q.to(dtype), k.to(dtype), v.to(dtype))  # expect: attention-unsupported-dtype
