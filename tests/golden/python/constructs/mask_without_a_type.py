# run: go(Attention(64, 4), x(2, 8, 64), torch.ones(2, 8))
# breaks: fp32-buffers, bf16
# products: half
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x, padding):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).transpose(1, 3).unbind(2)
        scores = torch.matmul(q, k.transpose(2, 3))
        added = (1.0 - padding[:, None, None, :].float()) * -10000.0
        scores = scores + added  # expect: attention-mixed-dtypes  #! bad
        scores = scores + added.to(scores.dtype)  #! ok
        return torch.matmul(scores.softmax(dim=-1), v)
