# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16, autocast
"""Functions of flash_attn that are loaded by the name of a repository: by a text, a constant, and as an attribute of the call."""
import torch
import torch.nn as nn
from kernels import get_kernel

NAME = "kernels-community/vllm-flash-attn3"
flash_attn = get_kernel("kernels-community/flash-attn2")
flash_attn_3 = get_kernel(NAME, revision="main")
varlen = get_kernel("kernels-community/flash-attn").flash_attn_varlen_func


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).unbind(2)
        scale = torch.ones(self.heads, 1, device=x.device)
        scale = scale.to(q.dtype)  #! ok
        q = q * scale  # expect: attention-implicit-promotion  #! bad
        q = q * scale  #! ok
        out = flash_attn.flash_attn_func(q, k, v)
        flash_attn_3.flash_attn_func(q, k, v)
        ends = torch.arange(0, (b + 1) * n, n, dtype=torch.int32, device=x.device)
        varlen(q.flatten(0, 1), k.flatten(0, 1), v.flatten(0, 1), ends, ends, n, n)
        return out
