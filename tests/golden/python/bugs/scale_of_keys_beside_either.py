# run: go(Attention(64, 4, False), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    """Whether queries are turned in float32 is an option: whatever they are, keys and values differ."""

    def __init__(self, dim, heads, wide: bool):
        super().__init__()
        self.heads, self.wide = heads, wide
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        gain = torch.linspace(0.5, 1.0, q.shape[-1], device=q.device)
        if self.wide:
            q = q.float()  # expect: attention-mixed-dtypes
        q = q.type_as(v)  #! ok
        k = k * gain  # expect: attention-implicit-promotion  #! bad
        k = k * gain.to(k.dtype)  #! ok
        return F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2))
