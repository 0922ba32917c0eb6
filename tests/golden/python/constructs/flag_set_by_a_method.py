# run: run(x)
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self.stable = False

    def make_stable(self):
        self.stable = True

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        if self.stable:
            q = q.float()  # expect: attention-mixed-dtypes  #! bad
            q = q.float().to(k.dtype)  #! ok
        return F.scaled_dot_product_attention(q, k, v)


def run(x):
    model = Attention(64).to(x(1).dtype)
    model.make_stable()
    return model(x(2, 8, 64))
