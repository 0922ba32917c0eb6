# run: go(Attention(), x(1, 8, 64))
# breaks: autocast, fp32-buffers
# fixed: no
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.key = nn.Linear(64, 64)
        self.register_buffer("keys", torch.zeros(1, 16, 64, dtype=torch.float32))  # expect: kv-cache-dtype-mismatch

    def forward(self, x):
        k = self.key(x)
        kept = self.keys
        kept[:, [0, 1]] = k[:, :2]  #! bad
        kept[:, 0:2] = k[:, :2]  #! ok
        kept = kept.to(k.dtype)
        return F.scaled_dot_product_attention(k, kept, kept)
