"""Published bugs, written anew with the dtypes of their models: the vision rotary of Qwen2.5-Omni (transformers 4.52.4), RWKV7's key
(flash-linear-attention 0.1.2), and a Qwen2 that stays in float32 and is asked for flash attention; their libraries need CUDA. The comments
mark what a report opens with.

    torch_twins.py qwen|qwen_right|rwkv7|rwkv7_right|decoder|decoder_right
"""
import pathlib
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).parent / "stand_in"))
from flash_attn import flash_attn_func  # pylint: disable=wrong-import-position
from flash_attn.layers.rotary import apply_rotary_emb  # pylint: disable=wrong-import-position

LOW = torch.bfloat16


class VisionAttention(nn.Module):
    """The heads go to flash-attn's rotary function in float32, beside tables that bfloat16() made narrow."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.inputs, self.outputs = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def rotate(self, heads, angles):
        wide = heads.float()  # call: qwen
        return apply_rotary_emb(wide, angles.cos(), angles.sin()).type_as(heads)

    def forward(self, x, angles):
        q, k, v = (part.reshape(1, x.shape[0], self.heads, -1) for part in self.inputs(x).chunk(3, -1))
        q, k = self.rotate(q, angles), self.rotate(k, angles)
        mixed = F.scaled_dot_product_attention(*(part.transpose(1, 2) for part in (q, k, v)))
        return self.outputs(mixed.transpose(1, 2).reshape(x.shape))


class VisionAngles(nn.Module):
    def __init__(self, half):
        super().__init__()
        self.register_buffer("inverse", 10000.0 ** (-torch.arange(half).float() / half), persistent=False)

    def forward(self, length):
        return torch.outer(torch.arange(length, dtype=self.inverse.dtype), self.inverse)


def qwen(is_right=False):
    attention, angles = VisionAttention(64, 2).to(LOW), VisionAngles(16)
    if not is_right:
        angles.to(LOW)
    try:
        print(attention(torch.randn(8, 64, dtype=LOW), angles(8)).dtype)
    except AssertionError as error:
        print("AssertionError", error)


def rotate_half(x):
    return torch.cat((-x[..., x.shape[-1] // 2:], x[..., :x.shape[-1] // 2]), -1)


class DecoderAttention(nn.Module):
    """As Qwen2's with attn_implementation="flash_attention_2": nothing casts what a model without a dtype computes."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj = nn.Linear(width, width), nn.Linear(width, width // 2), nn.Linear(width, width // 2)

    def forward(self, x, cos, sin):
        size = x.shape[-1] // self.heads
        q, k, v = (projection(x).unflatten(-1, (-1, size)) for projection in (self.q_proj, self.k_proj, self.v_proj))
        cos, sin = cos.to(x.dtype), sin.to(x.dtype)
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        k, v = (part.repeat_interleave(2, 2) for part in (k, v))
        return flash_attn_func(q, k, v, causal=True)  # call: decoder


def decoder(is_right=False):
    attention = DecoderAttention(64, 4)
    if is_right:
        attention.to(LOW)
    angles = torch.outer(torch.arange(8.0), 10000.0 ** (-torch.arange(8) / 8)).repeat(1, 2)[:, None]
    x = torch.randn(1, 8, 64, dtype=LOW if is_right else None)  # call: input
    print(attention(x, angles.cos(), angles.sin()).dtype)


class ChunkDPLRDeltaRuleFunction(torch.autograd.Function):
    """Named and called as fla's; its products refuse two dtypes, as Triton's do."""

    @staticmethod
    def forward(ctx, q, k, v, a, b, gk, scale):
        decay = gk.exp()
        state = torch.zeros(*q.shape[:1], *q.shape[2:], v.shape[-1])
        outputs = []
        for t in range(q.shape[1]):
            removed = torch.einsum("bhk,bhkv->bhv", a[:, t].float(), state)
            state = decay[:, t, :, :, None] * state + b[:, t, :, :, None].float() * removed[:, :, None]
            state = state + (k[:, t, :, :, None] @ v[:, t, :, None]).float()
            outputs.append(torch.einsum("bhk,bhkv->bhv", q[:, t].float() * scale, state))
        return torch.stack(outputs, 1).to(v.dtype)


def chunk_rwkv7(r, w, k, v, a, b):
    assert r.dtype == k.dtype == v.dtype  # which python -O leaves out
    return ChunkDPLRDeltaRuleFunction.apply(r, k, v, a, b, w, 1.0)


class TimeMixing(nn.Module):
    """Matrices in bfloat16, vectors in float32, as mixed precision keeps them."""

    def __init__(self, width, heads, vectors):
        super().__init__()
        self.heads = heads
        self.parts = nn.Linear(width, 5 * width, bias=False, dtype=LOW)
        self.key_gain = nn.Parameter(torch.ones(width, dtype=vectors))

    def forward(self, x):
        r, w, k, v, a = self.parts(x).chunk(5, -1)
        a = a.sigmoid()
        direction = F.normalize(k.unflatten(-1, (self.heads, -1)), dim=-1)
        k = k.addcmul(k * (a - 1), self.key_gain)  # call: rwkv7
        w = -0.6065 * w.float().sigmoid()
        r, w, k, v, a = (part.unflatten(-1, (self.heads, -1)) for part in (r, w, k, v, a))
        return chunk_rwkv7(r, w, k, v, -direction, direction * a)


def rwkv7(is_right=False):
    try:
        print(TimeMixing(64, 2, LOW if is_right else torch.float32)(torch.randn(1, 8, 64, dtype=LOW)).dtype)
    except (AssertionError, RuntimeError) as error:
        print(type(error).__name__)


torch.manual_seed(0)
name, _, right = sys.argv[1].partition("_")
globals()[name](right == "right")
