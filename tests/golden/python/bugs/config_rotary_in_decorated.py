# run: go(Attention(Config()), x(2, 8, 64))
# breaks: fp32-buffers, bf16, autocast
import functools
from dataclasses import dataclass

import torch
import torch.nn as nn
from flash_attn import flash_attn_func


@dataclass
class Config:
    hidden_size: int = 64
    num_heads: int = 4
    rope_theta: float = 10000.0
    query_multiplier: float | None = None
    attn_implementation: str = "flash_attention_2"


def traced(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


@traced
def apply_rotary(q, k, cos, sin, unsqueeze_dim=2):
    cos = cos.unsqueeze(0).unsqueeze(unsqueeze_dim)
    sin = sin.unsqueeze(0).unsqueeze(unsqueeze_dim)
    q = q * cos + rotate_half(q) * sin  # expect: attention-implicit-promotion
    k = k * cos + rotate_half(k) * sin  # expect: attention-implicit-promotion
    return q, k


class Rotary(nn.Module):
    def __init__(self, config):
        super().__init__()
        dim = config.hidden_size // config.num_heads
        inv_freq = 1.0 / (config.rope_theta ** (torch.arange(0, dim, 2).float() / dim))
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    @torch.no_grad()
    def forward(self, x, positions):
        freqs = torch.outer(positions.float(), self.inv_freq.float())
        emb = torch.cat((freqs, freqs), dim=-1)
        return emb.cos(), emb.sin()  #! bad
        return emb.cos().to(x.dtype), emb.sin().to(x.dtype)  #! ok


def flash_attention(module, q, k, v, **kwargs):
    return flash_attn_func(q, k, v, causal=kwargs.get("causal", True))


def eager_attention(module, q, k, v, **kwargs):
    weights = (q.transpose(1, 2) @ k.permute(0, 2, 3, 1)).softmax(-1)
    return (weights.to(v.dtype) @ v.transpose(1, 2)).transpose(1, 2)


ATTENTION = {"eager": eager_attention, "flash_attention_2": flash_attention}


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.num_heads = config.num_heads
        self.q_proj = nn.Linear(config.hidden_size, config.hidden_size)
        self.k_proj = nn.Linear(config.hidden_size, config.hidden_size)
        self.v_proj = nn.Linear(config.hidden_size, config.hidden_size)
        self.o_proj = nn.Linear(config.hidden_size, config.hidden_size)
        self.rotary = Rotary(config)

    def forward(self, hidden_states):
        b, n, _ = hidden_states.shape
        shape = (b, n, self.num_heads, -1)
        q, k, v = (proj(hidden_states).view(shape) for proj in (self.q_proj, self.k_proj, self.v_proj))
        if self.config.query_multiplier is not None:
            q = q * self.config.query_multiplier
        cos, sin = self.rotary(v, torch.arange(n, device=v.device))
        q, k = apply_rotary(q, k, cos, sin)
        attend = ATTENTION[self.config.attn_implementation]
        out = attend(self, q, k, v, causal=True)
        return self.o_proj(out.reshape(b, n, -1))
