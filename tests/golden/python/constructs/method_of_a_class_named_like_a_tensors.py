# run: run(x)
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F


class Packed:
    def __init__(self, data, dtype):
        self.data, self.dtype = data, dtype

    def dequantize(self):
        return self.data.float()  # expect: attention-mixed-dtypes  #! bad
        return self.data.float().to(self.dtype)  #! ok


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q = nn.Linear(dim, dim)

    def forward(self, x):
        q = k = self.q(x)
        packed = Packed(k, k.dtype)
        return F.scaled_dot_product_attention(q, packed.dequantize(), q)


def run(x):
    return Attention(64).to(x(1).dtype)(x(2, 8, 64))
