# run: go(NeighborhoodAttention(64, 4), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
from natten import libnatten
from torch.autograd import Function


class WeightsTimesValues(Function):
    @staticmethod
    def forward(ctx, attn, value, kernel_size):
        attn = attn.to(value.dtype)  #! ok
        out = torch.empty_like(value)
        libnatten.na1d_av_forward(out, attn, value, kernel_size, 1)
        return out


class NeighborhoodAttention(nn.Module):
    def __init__(self, dim, heads, kernel_size=3):
        super().__init__()
        self.heads, self.kernel_size = heads, kernel_size
        self.qkv, self.weigh = nn.Linear(dim, 3 * dim), nn.Linear(dim // heads, kernel_size)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        attn = self.weigh(q * k).softmax(dim=-1)  # expect: autocast-fp32-operator  #! bad
        attn = self.weigh(q * k).softmax(dim=-1)  #! ok
        return WeightsTimesValues.apply(attn, v, self.kernel_size)
