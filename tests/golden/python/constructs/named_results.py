# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
from typing import cast

import torch
import torch.nn as nn
from einops import einsum, reduce
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        exact = q.float().abs().max(dim=-1, keepdim=True).values  # expect: attention-mixed-dtypes
        q = q / exact  #! bad
        q = q / exact.to(q.dtype)  #! ok
        k = k * reduce(k, "b n h d -> 1 1 h 1", "max")
        v = cast(torch.Tensor, v)
        v = einsum(v, torch.eye(v.shape[-1], dtype=v.dtype), "b n h d, d e -> b n h e")
        return flash_attn_func(q, k, v)
