# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F


class CastingLinear(nn.Linear):
    def forward(self, x):
        return F.linear(x.to(self.weight.dtype), self.weight, self.bias)


class WideLinear(nn.Linear):
    def forward(self, x):
        return F.linear(x.float(), self.weight.float(), self.bias.float()).to(self.weight.dtype)


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv, self.gate = nn.Linear(dim, dim * 3), WideLinear(dim, dim)
        self.out = nn.Linear(dim, dim)  #! bad
        self.out = CastingLinear(dim, dim)  #! ok

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        attended = F.scaled_dot_product_attention(q, k, v)
        gain = torch.full((x.shape[-1],), 0.5, device=x.device)
        attended = attended * gain  # expect: operator-mixed-dtypes
        return self.out(attended) + self.gate(attended)
