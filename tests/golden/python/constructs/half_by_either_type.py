# run: main(x(2, 8, 64), "fp16")
# breaks: autocast, fp32-buffers, bf16
# ruled out: autocast-bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.scale = nn.Parameter(torch.ones(dim // heads))

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = q * self.scale  # expect: attention-implicit-promotion  #! bad
        q = q * self.scale  #! ok
        return flash_attn_func(q, k, v)


def main(x, name):
    model = A(64, 4)
    model = model.to(torch.float16 if name == "fp16" else torch.bfloat16)  #! ok
    model.requires_grad_(False)
    return model(x.to(model.qkv.weight.dtype))  # expect: attention-unsupported-dtype
