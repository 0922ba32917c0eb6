# run: go(A(64, 4, dtype=x(1).dtype), x(2, 8, 64))
# breaks: fp32-buffers
# products: half
# missed: the layer refuses its table, which no attention sees; nothing behind it runs
import torch
import torch.nn as nn


class A(nn.Module):
    """Its layers are what they were told to be made in, which is what a setting says, whatever code that is not
    in sight does to one of them; and a model's conversion goes on to change both."""

    def __init__(self, dim, heads, dtype=None):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3, dtype=dtype)
        self.bias = nn.Linear(2, heads, dtype=dtype)
        self.register_buffer("table", torch.ones(8, 8, 2))
        self.bias.extra_repr()  # which may do anything

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4).unbind(0)
        bias = self.bias(self.table).permute(2, 0, 1)  # expect: operator-mixed-dtypes  #! bad
        bias = self.bias(self.table.to(self.bias.weight.dtype)).permute(2, 0, 1)  #! ok
        scores = q @ k.transpose(-2, -1) + bias
        return scores.softmax(-1) @ v
