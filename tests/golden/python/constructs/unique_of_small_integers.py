# run: go(Attention(16), x(8, 4, 16), torch.tensor([3, 3, 8], dtype=torch.int32))
# breaks: autocast, fp32-buffers, bf16
import torch
from torch import nn
from flash_attn import flash_attn_varlen_func


class Attention(nn.Module):
    """unique gives one tensor like what it is given, and indices beside it only where these are asked for."""

    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x: torch.Tensor, ends: torch.Tensor):
        q, k, v = self.qkv(x).chunk(3, -1)
        ends = ends.to(torch.int32)
        starts = torch.unique_consecutive(torch.cat([torch.zeros(1, dtype=torch.int32), ends]))
        starts = torch.unique(starts, return_counts=True)[1]  # expect: attention-unsupported-dtype  #! bad
        return flash_attn_varlen_func(q, k, v, starts, starts, 8, 8)
