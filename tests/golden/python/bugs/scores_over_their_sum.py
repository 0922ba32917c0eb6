# run: go(LinearAttention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F


class LinearAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.eps, self.qkv = 1e-15, nn.Linear(dim, 3 * dim)

    def forward(self, x):
        query, key, value = self.qkv(x).chunk(3, dim=-1)
        scores = torch.matmul(query.relu(), key.relu().transpose(-1, -2))
        scores = scores.to(dtype=torch.float32)  # expect: attention-mixed-dtypes  #! bad
        scores = scores.to(dtype=torch.float32)  #! ok
        scores = scores / (torch.sum(scores, dim=-1, keepdim=True) + self.eps)
        scores = scores.to(dtype=value.dtype)  #! ok
        value = torch.matmul(scores, value)
        return F.scaled_dot_product_attention(value, value, value)
