# run: None
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim, dtype):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim, dtype=dtype)
        self.register_buffer("position", torch.zeros(1, 1, dim), persistent=False)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q + self.position  # expect: attention-implicit-promotion
        return F.scaled_dot_product_attention(q, k, v)


class Config:
    dim = 64
    dtype = torch.float16  #! bad
    dtype = torch.float32  #! ok


model = Attention(Config.dim, Config.dtype)
out = model(torch.randn(2, 8, 64, dtype=Config.dtype))
