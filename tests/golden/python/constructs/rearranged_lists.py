# run: run(x)
# breaks: fp32-buffers, bf16
# products: half
import torch
import torch.nn as nn
from einops_exts import rearrange_many


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q, self.kv = nn.Linear(dim, dim), nn.Linear(dim, dim * 2)

    def forward(self, x):
        q, k, v = self.q(x), *self.kv(x).chunk(2, dim=-1)
        q, k, v = rearrange_many((q, k, v), "b n (h d) -> b h n d", h=4)
        scores = torch.einsum("bhid,bhjd->bhij", q, k)
        weights = scores.softmax(dim=-1, dtype=torch.float32)  # expect: attention-mixed-dtypes  #! bad
        weights = scores.softmax(dim=-1, dtype=torch.float32).to(v.dtype)  #! ok
        return torch.einsum("bhij,bhjd->bhid", weights, v)


def run(x):
    return Attention(64).to(x(1).dtype)(x(2, 8, 64))
