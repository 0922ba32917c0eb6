# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


def _exact(q, k, v):
    q, k, v = (each.transpose(1, 2) for each in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v).transpose(1, 2)


class A(nn.Module):
    """Which function it is and what that is handed are decided together: only the one that takes float32 gets it."""

    def __init__(self, dim, heads, exact: bool = False):
        super().__init__()
        self.heads, self.exact = heads, exact
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = F.normalize(q, dim=-1)  # expect: autocast-fp32-operator  #! bad
        q, wide = F.normalize(q, dim=-1).to(k.dtype), F.normalize(q, dim=-1).float()  #! ok
        if self.exact:
            attend = _exact
            q = wide  #! ok
            q = q.float()  #! bad
            k, v = k.float(), v.float()
        else:
            attend = flash_attn_func
        return attend(q, k, v)
