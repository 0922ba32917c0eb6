# run: go(Block(64), x(2, 8, 64), x(2, 8, 64))
# breaks: bf16, fp32-buffers
# products: half
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.to_q, self.to_k, self.to_v = (nn.Linear(dim, dim) for _ in range(3))

    def fuse(self):
        dtype = self.to_q.weight.data.dtype
        both = torch.cat([self.to_k.weight.data, self.to_v.weight.data])
        self.to_kv = nn.Linear(both.shape[1], both.shape[0], dtype=dtype)


class Block(nn.Module):
    """A layer that is made in the dtype of another one becomes half with the whole model."""

    def __init__(self, dim):
        super().__init__()
        self.attention = Attention(dim)
        self.attention.fuse()
        self.norm = nn.LayerNorm(dim)

    def forward(self, x, y):
        q = self.attention.to_q(x)
        k, v = self.attention.to_kv(torch.cat((self.norm(x), y), dim=-2)).chunk(2, dim=-1)
        weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)
        weights = weights * torch.ones(weights.shape[-1], device=x.device)  # expect: attention-mixed-dtypes  #! bad
        return weights @ v
