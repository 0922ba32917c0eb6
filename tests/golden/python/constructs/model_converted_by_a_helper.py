# run: main(x(2, 8, 64))
# breaks: fp32-buffers, bf16
# ruled out: autocast-bf16
import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)
        self.register_buffer("scale", torch.ones(dim))

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        q = q * self.scale  # expect: attention-implicit-promotion  #! bad
        q = q * self.scale  #! ok
        return F.scaled_dot_product_attention(q, k, v)


def converted(model, dtype):
    return model.to(dtype)


def main(x):
    model = Attention(64)
    model.qkv = converted(model.qkv, torch.float16)  #! bad
    model = converted(model, torch.float16)  #! ok
    model.requires_grad_(False)
    return model(x.to(model.qkv.weight.dtype))
