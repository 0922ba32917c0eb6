# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16
# fixed: yes
# products: half
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.scores_are = heads, "bhij"
        self.qkv = nn.Linear(dim, 3 * dim)

    def weigh(self, q, k):
        scores = torch.einsum(f"bihd,bjhd->{self.scores_are}", q, k)
        return scores.float()  # expect: attention-mixed-dtypes  #! bad
        return scores  #! ok

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        weights = self.weigh(q, k).softmax(-1)
        return torch.einsum(f"{self.scores_are},bjhd->bihd", weights, v)
