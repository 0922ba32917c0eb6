# run: go(Encoder(64, 4), x(2, 8, 64), ids(2, 8))
# breaks: fp32-buffers, bf16
# library: torch=2.3
# torch: 2.3
import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = (nn.Linear(dim, dim) for _ in range(3))

    def heads_of(self, t):
        return t.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, attention_mask):
        extended = (1.0 - attention_mask[:, None, None, :].float()) * -10000.0  # expect: attention-mask-dtype  #! bad
        extended = (1.0 - attention_mask[:, None, None, :].to(x.dtype)) * -10000.0  #! ok
        q, k, v = self.heads_of(self.q(x)), self.heads_of(self.k(x)), self.heads_of(self.v(x))
        return F.scaled_dot_product_attention(q, k, v, extended)
