# run: go(Mixer(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers
# fixed: yes
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Mixer(nn.Module):
    """A loop over operands of which one is wide on purpose: what stands in the loop is not to be cast."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, 3 * dim)
        self.register_buffer("gain", torch.ones(dim))

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        decay = v.float().sigmoid()
        k = k.addcmul(k * k, self.gain)  # expect: attention-implicit-promotion  #! bad
        k = k.addcmul(k * k, self.gain).to(k.dtype)  #! ok
        q, k, v, decay = (each.unflatten(-1, (self.heads, -1)) for each in (q, k, v, decay))
        weight = decay.log().softmax(-1)
        out, _ = flash_attn_func(q, k, v), weight
        return out * weight
