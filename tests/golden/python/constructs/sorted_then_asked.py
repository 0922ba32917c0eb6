# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
# fixed: yes
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    """What gives two tensors is no tensor: a cast stands behind the part, or at the call."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, 3 * dim)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = q.float().sort(-1, descending=True)[0]  # expect: attention-mixed-dtypes  #! bad
        q = q.float().sort(-1, descending=True)[0].to(q.dtype)  #! ok
        k = k.float().sort(-1).values.type_as(k)
        return flash_attn_func(q, k, v)
