# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


def _attend(q, k, v, *, upcast=True, out_dtype=None):  #! bad
def _attend(q, k, v, *, upcast=False, out_dtype=None):  #! ok
    if upcast:
        q = q.float()  # expect: attention-mixed-dtypes
    return flash_attn_func(v=v, k=k, q=q)


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        return _attend(k=k, v=v, q=q)
