# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: autocast
import torch.nn as nn
from flash_attn import flash_attn_func


def _attend(module, hidden_states):
    key, value = module.to_k(hidden_states), module.to_v(hidden_states)
    query = module.norm_q(module.to_q(hidden_states))  # expect: autocast-fp32-operator  #! bad
    query = module.norm_q(module.to_q(hidden_states)).to(value.dtype)  #! ok
    query, key, value = (each.unflatten(-1, (module.heads, -1)) for each in (query, key, value))
    return flash_attn_func(query, key, value).flatten(2)


class Processor:
    def __call__(self, attn, hidden_states):
        return _attend(attn, hidden_states)


class Attention(nn.Module):
    def __init__(self, dim, heads, processor=None):
        super().__init__()
        self.heads = heads
        self.to_q, self.to_k, self.to_v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.norm_q = nn.LayerNorm(dim)
        self.processor = processor or Processor()

    def forward(self, hidden_states):
        return self.processor(self, hidden_states)
