# run: go(Layer(64, 4), x(2, 8, 64))
# breaks: fp32-buffers
# products: half
import torch
import torch.nn as nn

try:
    from unseen_layers import CheckpointedLayer
except ImportError:
    CheckpointedLayer = nn.Module


class Scale(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("weight", torch.ones(dim), persistent=False)  #! bad
        self.weight = nn.Parameter(torch.ones(dim))  #! ok

    def forward(self, x):
        return x * self.weight  # expect: attention-implicit-promotion


class Layer(CheckpointedLayer):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv, self.scale = heads, nn.Linear(dim, dim * 3), Scale(dim // heads)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        weights = torch.softmax(self.scale(q) @ self.scale(k).transpose(-2, -1), dim=-1).to(v.dtype)
        return torch.matmul(weights, v)
