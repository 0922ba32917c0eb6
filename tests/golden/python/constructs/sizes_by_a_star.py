# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: autocast, bf16, fp32-buffers
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


def positions(x):
    n, d, device, dtype = *x.shape[1:], x.device, x.dtype
    *_, same, kind = *x.shape, d, dtype
    same, kind, *_ = same, kind, *x.shape, *(n, d)
    omega = torch.arange(same // 2, device=device) / (d // 2 - 1)
    angles = torch.arange(n, device=device)[:, None] * 1000.0 ** -omega[None, :]
    table = torch.cat((angles.sin(), angles.cos()), dim=1)
    return table  #! bad
    return table.to(kind)  #! ok


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.kv = heads, nn.Linear(dim, dim * 2)

    def forward(self, x):
        q = x + positions(x)  # expect: attention-implicit-promotion
        k, v = self.kv(x).unflatten(-1, (2, self.heads, -1)).unbind(2)
        *_, width = k.shape
        return flash_attn_func(q.unflatten(-1, (self.heads, width)), k, v)
