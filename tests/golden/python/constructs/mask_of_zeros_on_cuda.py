# run: go(Causal(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16
"""PyTorch 2.4 and newer let a float32 mask beside half queries pass their own check; the kernels of CUDA refuse it, those of
the CPU take it."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Causal(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mask = torch.zeros(n, n, device=x.device)  # expect: attention-mask-dtype  #! bad
        mask = torch.zeros(n, n, device=x.device, dtype=x.dtype)  #! ok
        mask = mask.masked_fill(torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
