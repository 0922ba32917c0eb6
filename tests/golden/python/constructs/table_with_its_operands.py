# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


def _exact(q, k, v):
    q, k, v = (each.float().transpose(1, 2) for each in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v).transpose(1, 2)


ATTENTION = {"flash": flash_attn_func, "exact": _exact}


class A(nn.Module):
    """The key that names the function says whether q has been cast back."""

    def __init__(self, dim, heads, kind="flash"):
        super().__init__()
        self.heads, self.kind = heads, kind
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        attend = ATTENTION[self.kind]
        q = F.normalize(q, dim=-1)  # expect: autocast-fp32-operator  #! bad
        q = F.normalize(q, dim=-1)  #! ok
        if self.kind == "flash":  #! ok
            q = q.to(v.dtype)  #! ok
        return attend(q, k, v)
