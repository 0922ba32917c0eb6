"""Vision attention with flash-attention's rotary embedding, with Qwen2.5-Omni's bug: only the input is cast to float32, and where
buffers are half (DeepSpeed, model.to(bfloat16)) cos and sin are not. flash_attn before 2.8 refuses that."""
import torch
import torch.nn as nn
from flash_attn import flash_attn_varlen_func
from flash_attn.layers.rotary import apply_rotary_emb


def apply_rotary_pos_emb_flashatt(tensor, freqs):
    tensor_ = tensor.float()
    cos = freqs.cos()
    sin = freqs.sin()
    return apply_rotary_emb(tensor_, cos, sin).type_as(tensor)


class VisionRotaryEmbedding(nn.Module):
    def __init__(self, dim, theta=10000.0):
        super().__init__()
        inv_freq = 1.0 / (theta ** (torch.arange(0, dim, 2, dtype=torch.float) / dim))
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    def forward(self, seqlen):
        seq = torch.arange(seqlen, device=self.inv_freq.device, dtype=self.inv_freq.dtype)
        return torch.outer(seq, self.inv_freq)


class VisionAttention(nn.Module):
    def __init__(self, dim=64, num_heads=4):
        super().__init__()
        self.num_heads = num_heads
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.proj = nn.Linear(dim, dim)
        self.rotary = VisionRotaryEmbedding(dim // num_heads)

    def forward(self, hidden_states, cu_seqlens, max_seqlen):
        seq_length = hidden_states.shape[0]
        q = self.q(hidden_states).reshape(seq_length, self.num_heads, -1)
        k = self.k(hidden_states).reshape(seq_length, self.num_heads, -1)
        v = self.v(hidden_states).reshape(seq_length, self.num_heads, -1)
        freqs = self.rotary(seq_length)
        q = apply_rotary_pos_emb_flashatt(q.unsqueeze(0), freqs).squeeze(0)
        k = apply_rotary_pos_emb_flashatt(k.unsqueeze(0), freqs).squeeze(0)
        out = flash_attn_varlen_func(q, k, v, cu_seqlens, cu_seqlens, max_seqlen, max_seqlen)
        return self.proj(out.reshape(seq_length, -1))
