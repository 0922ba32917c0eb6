# run: go(Block(64, 4), x(2, 8, 64))
# breaks: autocast
from typing import Optional

import torch
import torch.nn as nn
from flash_attn import flash_attn_func


def _project(attn: "JointAttention", hidden_states):
    if attn.fused:
        return attn.to_qkv(hidden_states).chunk(3, dim=-1)
    return attn.to_q(hidden_states), attn.to_k(hidden_states), attn.to_v(hidden_states)


class Processor:
    def __call__(self, attn: "JointAttention", hidden_states: torch.Tensor, mask: Optional[torch.Tensor] = None):
        query, key, value = _project(attn, hidden_states)
        query, key, value = (t.unflatten(-1, (attn.heads, -1)) for t in (query, key, value))
        query = attn.norm_q(query)  # expect: autocast-fp32-operator  #! bad
        query = attn.norm_q(query).to(value.dtype)  #! ok
        return flash_attn_func(query, key, value).flatten(2)


class JointAttention(nn.Module):
    def __init__(self, dim, heads, processor=None, fused=False):
        super().__init__()
        self.heads, self.fused = heads, fused
        self.to_q, self.to_k, self.to_v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.to_qkv = nn.Linear(dim, 3 * dim)
        self.norm_q = nn.LayerNorm(dim // heads)
        self.set_processor(processor if processor is not None else Processor())

    def set_processor(self, processor):
        self.processor = processor

    def forward(self, hidden_states, **kwargs):
        return self.processor(self, hidden_states, **kwargs)


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.attn = JointAttention(dim, heads)

    def forward(self, x):
        return x + self.attn(x)
