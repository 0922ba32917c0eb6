# run: go(TimeMix(64, 4), x(2, 8, 64))
# breaks: autocast
# missed: a dictionary that a comprehension makes of a ModuleDict, and what stands in a ParameterDict
import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


class KeyGain:
    """For classes with `self.gains`."""

    def gained(self, name, t):
        gain = self.gains[name]
        return torch.addcmul(t, t, gain)  # expect: attention-implicit-promotion  #! bad
        return torch.addcmul(t, t, gain.to(t.dtype))  #! ok


class TimeMix(KeyGain, nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.gains = nn.ParameterDict({"k": nn.Parameter(torch.zeros(dim))})
        self.projections = nn.ModuleDict({name: nn.Linear(dim, dim) for name in "rkv"})

    def forward(self, x):
        shifted = F.pad(x, (0, 0, 1, -1))
        mixed = {name: layer(x + 0.5 * (shifted - x)) for name, layer in self.projections.items()}
        mixed["k"] = self.gained("k", mixed["k"])
        r, k, v = (mixed[name].unflatten(-1, (self.heads, -1)) for name in ("r", "k", "v"))
        return flash_attn_func(r, k, v, causal=True).flatten(2)
