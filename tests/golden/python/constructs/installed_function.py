# run: go(Attention(), x(2, 8, 64))
# breaks: autocast
# packages: site-packages
import torch.nn as nn
from attention_layers import scaling
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(64, 192)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, 4, 16)).unbind(2)
        q = scaling.unit(q)  # expect: autocast-fp32-operator  #! bad
        q = scaling.unit(q, k.dtype)  #! ok
        return flash_attn_func(q, k, v)
