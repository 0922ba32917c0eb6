# run: main(x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
# ruled out: autocast-bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.register_buffer("scale", torch.ones(dim // heads))

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = q * self.scale  # expect: attention-implicit-promotion  #! bad
        q = q * self.scale  #! ok
        return flash_attn_func(q, k, v)


def main(x):
    torch.set_default_dtype(torch.float16)  #! ok
    model = A(64, 4).requires_grad_(False)
    torch.set_default_dtype(torch.float32)
    return model(x.to(model.qkv.weight.dtype))  # expect: attention-unsupported-dtype
