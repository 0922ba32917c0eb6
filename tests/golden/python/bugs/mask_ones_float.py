# run: go(CausalAttention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16
# library: torch=2.3
# torch: 2.3
import torch
import torch.nn as nn
import torch.nn.functional as F


class CausalAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mask = torch.ones(n, n, device=x.device).tril()  # expect: attention-mask-dtype  #! bad
        mask = torch.ones(n, n, device=x.device, dtype=torch.bool).tril()  #! ok
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
