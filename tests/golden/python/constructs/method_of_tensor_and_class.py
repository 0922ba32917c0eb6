# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F


class Batch:
    """Has methods that tensors have: what is called by these names may be either."""

    def __init__(self, images):
        self.images = images

    def to(self, device):
        return Batch(self.images.to(device))

    def mul(self, factor):
        return Batch(self.images.mul(factor))


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, 3 * dim)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4).unbind(0)
        table = torch.linspace(0, 1, q.shape[-1]).to(x.device)  #! bad
        table = torch.linspace(0, 1, q.shape[-1]).to(x)  #! ok
        q = q.mul(table)  # expect: attention-implicit-promotion  #! bad
        q = q.mul(table)  #! ok
        return F.scaled_dot_product_attention(q, k, v)
