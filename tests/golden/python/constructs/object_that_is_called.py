# run: run(x)
# breaks: fp32-buffers, bf16
import torch.nn as nn
import torch.nn.functional as F


class Processor:
    def __call__(self, attention, x):
        q = k = attention.inputs(x)
        q = q.float()  # expect: attention-mixed-dtypes  #! bad
        q = q.float().to(k.dtype)  #! ok
        return F.scaled_dot_product_attention(q, k, k)


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.inputs = nn.Linear(dim, dim)
        self.processor = Processor()

    def forward(self, x):
        return self.processor(self, x)


def run(x):
    return Attention(64).to(x(1).dtype)(x(2, 8, 64))
