# run: run(x)
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(1, 1, 1, 64)  # expect: unregistered-buffer

    def forward(self, q, k):
        return flash_attn_func(q * self.scale, k, k)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Scaled()

    def prepare(self, like):
        self.part.scale = self.part.scale.to(like.dtype)  #! ok
        self.part.other = self.part.scale.to(like.dtype)  #! bad

    def forward(self, q, k):
        return self.part(q, k)


def run(x):
    model = Model()
    model.prepare(x(1))
    return model(x(2, 8, 4, 64), x(2, 8, 4, 64))
