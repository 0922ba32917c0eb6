# run: go(Attention(64, 4, True), x(2, 8, 64))
# breaks: autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func
from torch.overrides import handle_torch_function, has_torch_function


def attend(q, k, v):
    if has_torch_function((q, k, v)):
        return handle_torch_function(attend, (q, k, v), q, k, v)
    return flash_attn_func(q, k, v)


class Attention(nn.Module):
    def __init__(self, dim, heads, qk_norm=False):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.norm = nn.LayerNorm(dim // heads) if qk_norm else nn.Identity()

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = self.norm(q)  # expect: autocast-fp32-operator
        q = q.contiguous()  #! bad
        q = q.to(v.dtype)  #! ok
        return attend(q, k, v)
