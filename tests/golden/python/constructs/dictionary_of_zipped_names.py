# run: run(x)
# breaks: autocast, fp32-buffers, bf16
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        packed = self.qkv(x).view(2, 8, 3, 4, 16)
        parts = dict(zip(("q", "k", "v"), packed.unbind(dim=2)))
        parts["k"] = parts["k"].float()  # expect: attention-mixed-dtypes  #! bad
        parts["k"] = parts["k"].float().to(parts["q"].dtype)  #! ok
        return flash_attn_func(parts["q"], parts["k"], parts["v"])


def run(x):
    return Attention(64).to(x(1).dtype)(x(2, 8, 64))
