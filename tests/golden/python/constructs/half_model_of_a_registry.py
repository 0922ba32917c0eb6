# run: main(x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
# ruled out: autocast-bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func

MODELS = {}


def register(name):
    def put(model):
        MODELS[name] = model
        return model

    return put


@register("scaled")
class Scaled(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = q * self.scale  # expect: attention-implicit-promotion  #! bad
        q = q * self.scale  #! ok
        return flash_attn_func(q, k, v)  # expect: attention-unsupported-dtype  #! bad
        return flash_attn_func(q, k, v)  #! ok


def build(name):
    return MODELS[name](64, 4)


def main(x):
    model = build("scaled")
    model.eval()  #! bad
    model.to(torch.float16)  #! ok
    model.requires_grad_(False)
    return model(x.to(model.qkv.weight.dtype))  # expect: attention-unsupported-dtype


if __name__ == "__main__":
    main(torch.randn(2, 8, 64))
