# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16, autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.heads = heads
        self.projections = nn.ModuleDict({name: nn.Linear(dim, dim) for name in ("q", "k", "v")})
        self.gains = {name: torch.ones(heads, 1) for name in ("q", "k")}

    def of(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return self.projections[name](x).view(*x.shape[:-1], self.heads, -1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (self.of(x, name) for name in ("q", "k", "v"))
        q = q * self.gains["q"].to(q.device)  # expect: attention-implicit-promotion  #! bad
        q = q * self.gains["q"].to(q.device, q.dtype)  #! ok
        return flash_attn_func(q, k, v)
