# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch.nn as nn
import torch.nn.functional as F

flash_attn_func = None
_other = None


def _load():
    global flash_attn_func, _other
    if flash_attn_func is None:
        from flash_attn import flash_attn_func as function

        flash_attn_func = function
        _other = "loaded"
    return flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = F.normalize(q, dim=-1)  # expect: autocast-fp32-operator  #! bad
        q = F.normalize(q, dim=-1).to(k.dtype)  #! ok
        _load()
        return flash_attn_func(q, k, v)
