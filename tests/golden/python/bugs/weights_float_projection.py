# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    """Values are projected in float32 for stability."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qk = nn.Linear(dim, dim * 2)
        self.value_weight = nn.Parameter(torch.zeros(dim, dim))

    def forward(self, x):
        b, n, d = x.shape
        q, k = self.qk(x).view(b, n, 2, self.heads, -1).unbind(2)
        v = torch.matmul(x.float(), self.value_weight.float())  # expect: attention-mixed-dtypes  #! bad
        v = torch.matmul(x.float(), self.value_weight.float()).to(q.dtype)  #! ok
        return flash_attn_func(q, k, v.view(b, n, self.heads, -1))
