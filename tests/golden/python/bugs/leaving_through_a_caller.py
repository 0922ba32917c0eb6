# run: go(Dispatch(lambda x: (x.unflatten(-1, (4, -1)),) * 3, lambda q, k, v: attend(q, v, k), 64, 4), x(2, 8, 64))
# breaks: fp32-buffers, autocast
import torch
import torch.nn as nn


def turn_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


class RotaryEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / (10000 ** (torch.arange(0, dim, 2).float() / dim)))

    def turned(self, x, angles):
        return (x * angles.cos()) + (turn_half(x) * angles.sin())  # expect: rotary-dtype-mismatch

    def forward(self, q: torch.Tensor, k: torch.Tensor):
        t = torch.arange(q.shape[1], device=q.device).type_as(self.inv_freq)
        angles = torch.outer(t, self.inv_freq)
        angles = torch.cat((angles, angles), dim=-1)[:, None]
        return self.turned(q, angles), self.turned(k, angles)


class Dispatch(nn.Module):
    """Neither what projects nor what attends is in sight."""

    def __init__(self, project, attention, dim, heads):
        super().__init__()
        self.project, self.attention = project, attention
        self.rotary = RotaryEmbedding(dim // heads)

    def forward(self, x: torch.Tensor):
        q, k, v = self.project(x)
        q, k = self.rotary(q, k)
        q, k = q.type_as(v), k.type_as(v)  #! ok
        return self.attention(q, k, v)
