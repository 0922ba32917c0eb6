# run: go(make(64, 4).attention, x(2, 8, 64))
# breaks: autocast, fp32-buffers
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Turn(nn.Module):
    def __init__(self, dim, length):
        super().__init__()
        angles = torch.outer(torch.arange(length).float(), 100.0 ** -torch.linspace(0, 1, dim))
        self.register_buffer("table", angles.cos().unsqueeze(1), persistent=False)

    def forward(self, x):
        return x * self.table[: x.shape[1]]  # expect: attention-implicit-promotion #! bad
        return x * self.table[: x.shape[1]].to(x.dtype)  #! ok


class Attention(nn.Module):
    def __init__(self, dim, heads, turn, scale):
        super().__init__()
        self.heads, self.qkv, self.turn, self.scale = heads, nn.Linear(dim, dim * 3), turn, scale

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        if self.turn is not None:
            q = self.turn(q)
        return flash_attn_func(q, k, v, softmax_scale=self.scale)


class Layer(nn.Module):
    def __init__(self, dim, heads, turn=None):
        super().__init__()
        self.attention = Attention(dim, heads, turn, scale=None)


def make(dim, heads):
    return Layer(dim, heads, turn=Turn(dim // heads, 32))
