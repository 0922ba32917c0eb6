# run: go(Attention(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F


def cast_input(module, args):
    return (args[0].to(module.weight.dtype),)


class Attention(nn.Module):
    """What a hook does to an input is done before the layer sees it."""

    def __init__(self, dim):
        super().__init__()
        self.qkv, self.out = nn.Linear(dim, dim * 3), nn.Linear(dim, dim)
        self.out.register_forward_pre_hook(cast_input)  #! ok

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        attended = F.scaled_dot_product_attention(q, k, v)
        gain = torch.full((x.shape[-1],), 0.5, device=x.device)
        return self.out(attended * gain)  # expect: operator-mixed-dtypes
