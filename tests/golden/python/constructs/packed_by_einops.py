# run: go(A(64), x(2, 3, 8, 64))
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import pack, unpack


class A(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        (q, shapes), (k, _), (v, _) = map(lambda each: pack([each], "* n d"), (q, k, v))
        q = q.float()  # expect: attention-mixed-dtypes  #! bad
        out = F.scaled_dot_product_attention(q, k, v)
        (out,) = unpack(out, shapes, "* n d")
        return F.scaled_dot_product_attention(out, out, out)
