# run: go(A(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        scores = torch.einsum("bihd,bjhd->bhij", q, k)
        attn = torch.softmax(scores.float(), dim=-1)  # expect: attention-mixed-dtypes  #! bad
        attn = torch.softmax(scores.float(), dim=-1).to(v.dtype)  #! ok
        out = torch.einsum("bhij,bjhd->bihd", attn, v)
        return torch.nn.functional.scaled_dot_product_attention(out, out, out)
