# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16
# products: half
import torch
import torch.nn as nn
import torch.nn.functional as F


def rotate_half(t):
    a, b = t.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def rotated(t, cos, sin):
    return t * cos + rotate_half(t) * sin  # expect: attention-mixed-dtypes  #! bad
    return (t * cos + rotate_half(t) * sin).type_as(t)  #! ok


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).transpose(1, 3).unbind(2)
        angles = torch.outer(torch.arange(q.shape[2], device=q.device).float(), torch.ones(q.shape[-1], device=q.device))
        q, k = (rotated(each, angles.cos(), angles.sin()) for each in (q, k))
        scores = torch.matmul(q, k.transpose(-2, -1))
        weights = F.softmax(scores, dim=-1, dtype=torch.float32).type_as(scores)
        return torch.matmul(weights, v)
