# run: go(A(64, 4), x(2, 8, 64), None)
# breaks: autocast
import torch
import torch.nn as nn
from xformers.ops import memory_efficient_attention


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x: torch.Tensor, mask: torch.Tensor):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = q.to(self.qkv.weight.dtype)  # expect: attention-mixed-dtypes
        k = k.to(self.qkv.weight.dtype)  #! ok
        v = v.to(self.qkv.weight.dtype)  #! ok
        return memory_efficient_attention(q, k, v, attn_bias=mask)
