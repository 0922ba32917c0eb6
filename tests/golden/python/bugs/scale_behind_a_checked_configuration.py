# run: go(Attention(Config()), x(2, 8, 64))
# breaks: fp32-buffers, bf16
from types import SimpleNamespace

import torch
from torch import nn
import torch.nn.functional as F


def Config():
    return SimpleNamespace(dim=64, heads=4, scaled=True, kind="plain", activation="gelu", depth=None)


class Attention(nn.Module):
    """One field of the configuration is checked, another decides: the check says nothing of that."""

    def __init__(self, config):
        super().__init__()
        if config.dim % config.heads != 0:
            raise ValueError("heads do not divide the width")
        if config.activation not in ("gelu", "relu"):
            raise ValueError(config.activation)
        self.config = config
        self.scaled = getattr(config, "scaled", False)
        self.proj, self.q_proj = nn.Linear(config.dim, config.dim), nn.Linear(config.dim, config.dim)

    def forward(self, x: torch.Tensor):
        x = self.proj(x)
        assert x.shape[-1] == self.config.dim
        if self.config.depth is not None:
            x = self.proj(x)
        given = x.dtype
        if self.config.scaled:
            x = x * torch.full((64,), 0.5, device=x.device)  # expect: operator-mixed-dtypes
        if self.config.kind == "deep":  #! bad
            x = x.to(given)  #! bad
        if self.scaled:  #! ok
            x = x.to(given)  #! ok
        q = self.q_proj(x).unflatten(-1, (4, 16)).transpose(1, 2)
        return F.scaled_dot_product_attention(q, q, q)
