# run: [go(A(64, biased), x(2, 4, 8, 64)) for biased in (True, False)]
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F


class A(nn.Module):
    """A number is there until something is added to it, and isinstance asks which it is."""

    def __init__(self, dim, biased):
        super().__init__()
        self.bias = nn.Linear(1, 8) if biased else None
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x, mask=None):
        bias = 0
        if self.bias is not None:
            bias = bias + self.bias(x[..., :1])
        mask = mask if isinstance(bias, int) else bias.masked_fill(bias.isnan(), float("-inf"))
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.float()  # expect: attention-mixed-dtypes  #! bad
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
