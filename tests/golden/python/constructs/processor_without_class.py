# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: autocast
import torch.nn as nn
from flash_attn import flash_attn_func


class Processor:
    def __call__(self, attn, hidden_states):
        query, key, value = attn.to_q(hidden_states), attn.to_k(hidden_states), attn.to_v(hidden_states)
        query = attn.norm_q(query)  # expect: autocast-fp32-operator  #! bad
        query = attn.norm_q(query).to(value.dtype)  #! ok
        query, key, value = (each.unflatten(-1, (attn.heads, -1)) for each in (query, key, value))
        return flash_attn_func(query, key, value).flatten(2)


class Attention(nn.Module):
    def __init__(self, dim, heads, processor=None):
        super().__init__()
        self.heads = heads
        self.to_q, self.to_k, self.to_v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.norm_q = nn.LayerNorm(dim)
        self.use(processor if processor is not None else Processor())

    def use(self, processor):
        self.processor = processor

    def forward(self, hidden_states):
        return self.processor(self, hidden_states)
