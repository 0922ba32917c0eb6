# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    """What a constructor puts into .data is what the tensor is made of; a list or dictionary of parameters registers what is put there."""

    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)
        self.w, self.named, self.listed = nn.Parameter(torch.ones(1)), nn.ParameterDict(), nn.ParameterList([nn.Parameter(torch.ones(1))])
        self.w.data = torch.zeros(1)
        self.named["a"] = nn.Parameter(torch.ones(1))
        self.listed[0] = nn.Parameter(torch.zeros(1))

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        q = q * self.w * self.named["a"] * self.listed[0]
        k = k.float()  # expect: attention-mixed-dtypes  #! bad
        return F.scaled_dot_product_attention(q, k, v)
