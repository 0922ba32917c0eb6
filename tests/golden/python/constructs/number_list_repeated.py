# run: go(Model(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16, autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q = nn.Linear(dim, dim)
        self.scale = nn.Parameter(torch.ones(dim, dtype=torch.float32))

    def forward(self, x):
        q = self.q(x)
        shape = [1] * (q.ndim - 1) + [-1]
        wide = q * torch.ones(64).view(*shape)  #! bad # expect: attention-implicit-promotion
        wide = q * torch.ones(64).view(*shape).to(q.dtype)  #! ok
        q, k = q.view(2, 8, 4, 16), wide.view(2, 8, 4, 16)
        return flash_attn_func(k, q, q)
