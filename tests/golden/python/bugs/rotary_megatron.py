# run: go(ParallelAttention(Args()), x(8, 2, 64))
# breaks: autocast, fp32-buffers
import math
from typing import NamedTuple

import torch
import torch.nn.functional as F

try:
    from flash_attn.flash_attn_interface import flash_attn_unpadded_func
except ImportError:
    try:
        from flash_attn.flash_attn_interface import flash_attn_varlen_func as flash_attn_unpadded_func
    except ImportError:
        flash_attn_unpadded_func = None

try:
    from flash_attn import flash_attn_func
except ImportError:
    flash_attn_func = None


class Args(NamedTuple):
    hidden_size: int = 64
    num_attention_heads: int = 4
    use_flash_attn: bool = True


class RotaryPositionalEmbedding(torch.nn.Module):
    def __init__(self, dim, base=10000):
        super().__init__()
        inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim))
        self.register_buffer("inv_freq", inv_freq)

    def forward(self, max_seq_len, offset=0):
        seq = torch.arange(max_seq_len, device=self.inv_freq.device) + offset
        freqs = torch.outer(seq.type_as(self.inv_freq), self.inv_freq)
        emb = torch.cat((freqs, freqs), dim=-1)
        return emb[:, None, None, :]


def _rotate_half(x):
    x1, x2 = torch.chunk(x, 2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


def apply_rotary_pos_emb(t, freqs):
    rot_dim = freqs.shape[-1]
    t, t_pass = t[..., :rot_dim], t[..., rot_dim:]
    t = (t * freqs.cos()) + (_rotate_half(t) * freqs.sin())  # expect: attention-implicit-promotion  #! bad
    t = ((t * freqs.cos()) + (_rotate_half(t) * freqs.sin())).to(t_pass.dtype)  #! ok
    return torch.cat((t, t_pass), dim=-1)


class FlashSelfAttention(torch.nn.Module):
    def __init__(self, causal=False, softmax_scale=None):
        super().__init__()
        assert flash_attn_func is not None, "Please install FlashAttention first"
        self.causal, self.softmax_scale = causal, softmax_scale

    def forward(self, q, k, v):
        return flash_attn_func(q, k, v, causal=self.causal, softmax_scale=self.softmax_scale)


class ParallelAttention(torch.nn.Module):
    def __init__(self, args):
        super().__init__()
        self.num_heads = args.num_attention_heads
        self.head_dim = args.hidden_size // args.num_attention_heads
        self.query_key_value = torch.nn.Linear(args.hidden_size, 3 * args.hidden_size)
        self.rotary = RotaryPositionalEmbedding(self.head_dim)
        self.use_flash_attn = args.use_flash_attn
        if self.use_flash_attn:
            self.core_attention_flash = FlashSelfAttention(causal=True)

    def forward(self, hidden_states, attention_mask=None, rotary_pos_emb=None):
        mixed_x_layer = self.query_key_value(hidden_states)
        new_shape = mixed_x_layer.size()[:-1] + (self.num_heads, 3 * self.head_dim)
        mixed_x_layer = mixed_x_layer.view(*new_shape)
        (query, key, value) = torch.split(mixed_x_layer, self.head_dim, dim=-1)
        freqs = self.rotary(query.size(0))
        query = apply_rotary_pos_emb(query, freqs)
        key = apply_rotary_pos_emb(key, freqs)
        q, k, v = [t.transpose(0, 1).contiguous() for t in (query, key, value)]
        return self.core_attention_flash(q, k, v)
