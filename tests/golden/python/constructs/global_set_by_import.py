# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
import torch.nn as nn
import torch.nn.functional as F

_attend = None
_attend_packed = None


def _imports(packed_first):
    from flash_attn import flash_attn_func, flash_attn_qkvpacked_func

    return flash_attn_func, flash_attn_qkvpacked_func


def _load():
    global _attend, _attend_packed
    if any(each is None for each in (_attend, _attend_packed)):
        _attend, _attend_packed = _imports(False)
    return _attend, _attend_packed


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = F.normalize(q, dim=-1)  # expect: autocast-fp32-operator  #! bad
        q = F.normalize(q, dim=-1).to(k.dtype)  #! ok
        attend, _ = _load()
        return attend(q, k, v)
