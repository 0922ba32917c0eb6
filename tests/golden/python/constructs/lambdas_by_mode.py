# run: go(Attention(64, 4, "heads_first"), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F

LAYOUTS = {
    "heads_first": (lambda t: t.transpose(1, 2), lambda t: t.transpose(1, 2)),
    "tokens_first": (lambda t: t, lambda t: t.contiguous()),
}


def attend(q_or_all, k=None, v=None, mode="heads_first"):
    q, k, v = q_or_all if type(q_or_all) == list else (q_or_all, k, v)
    before, after = LAYOUTS[mode]
    q, k, v = before(q), before(k), before(v)
    return after(F.scaled_dot_product_attention(q, k, v))


class Attention(nn.Module):
    """Which of the functions of a table runs makes no difference to a dtype."""

    def __init__(self, dim, heads, mode):
        super().__init__()
        self.heads, self.mode, self.qkv = heads, mode, nn.Linear(dim, dim * 3)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).unbind(2)
        scale = torch.full((1, n, 1, 1), 0.5, device=x.device)
        q = q * scale  # expect: attention-implicit-promotion  #! bad
        q = q * scale.to(q.dtype)  #! ok
        return attend([q, k, v], mode=self.mode)
