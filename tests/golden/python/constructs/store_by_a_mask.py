# run: go(Attention(), x(2, 4, 8, 16), x(3, 16), torch.arange(64).view(2, 4, 8))
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.key = nn.Linear(16, 16)

    def forward(self, q, new, positions: torch.Tensor):
        there = positions > 60
        new = self.key(new)
        k = torch.zeros(2, 4, 8, 16, device=q.device)  # expect: kv-cache-dtype-mismatch  #! bad
        k = torch.zeros(2, 4, 8, 16, device=q.device, dtype=new.dtype)  #! ok
        k[there] = new
        k = k.to(q.dtype)
        return F.scaled_dot_product_attention(q, k, k)
