# run: go(VisionAttention(VisionConfig()), x(8, 64), torch.arange(8))
# breaks: fp32-buffers, bf16, autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class VisionConfig:
    def __init__(self, hidden_size=64, num_heads=4, temporal_patch_size=2, scale_q: int | float | None = None, **kwargs):
        self.hidden_size = hidden_size
        self.num_heads = num_heads
        self.temporal_patch_size = temporal_patch_size
        self.scale_q = scale_q


class RotaryTable:
    """Angles in float32 whatever the model's dtype is."""

    def __init__(self, dim):
        self.inverse = 1.0 / 10000.0 ** (torch.arange(0, dim, 2, dtype=torch.float32) / dim)

    def __call__(self, positions):
        angles = positions[:, None].float() * self.inverse.to(positions.device)
        return torch.polar(torch.ones_like(angles), angles)


def rotate_complex(t, table):
    pairs = torch.view_as_complex(t.float().unflatten(-1, (-1, 2)))
    turned = torch.view_as_real(pairs * table[:, None]).flatten(-2)
    return turned  #! bad
    return turned.to(t.dtype)  #! ok


class VisionAttention(nn.Module):
    def __init__(self, config: VisionConfig) -> None:
        super().__init__()
        self.config = config
        self.num_heads = config.num_heads
        self.qkv = nn.Linear(config.hidden_size, config.hidden_size * 3)
        self.table = RotaryTable(config.hidden_size // config.num_heads)

    def forward(self, hidden_states, positions):
        names = ("q", "k", "v")
        parts = dict(zip(names, self.qkv(hidden_states).unflatten(-1, (3, self.num_heads, -1)).unbind(1)))
        if self.config.scale_q:
            parts["q"] = parts["q"] * self.config.scale_q
        for name in ("q", "k"):
            parts[name] = rotate_complex(parts[name], self.table(positions))
        return flash_attn_func(**{name: t[None] for name, t in parts.items()}).flatten(2)[0]
