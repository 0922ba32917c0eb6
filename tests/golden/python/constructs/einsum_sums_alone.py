# run: go(A(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class A(nn.Module):
    """A letter that one operand alone has is summed before, and what is multiplied then may be of two dtypes."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        shares = torch.einsum("bihd,bjhd->bhij", q, k).softmax(dim=-1)
        gain = torch.linspace(0.5, 1.0, self.heads, device=x.device)
        weight = torch.einsum("bhij,h->bih", shares, gain)[..., None]  # expect: attention-implicit-promotion
        q = q * weight  #! bad
        q = (q * weight).to(v.dtype)  #! ok
        return flash_attn_func(q, k, v)
