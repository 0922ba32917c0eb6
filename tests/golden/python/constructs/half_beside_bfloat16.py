# run: go(CrossAttention(64), x(2, 8, 64))
# breaks: bf16-fp32-buffers, bf16
# missed: weights that are cast to float16 by name, whichever half type the model is in
# products: half
import torch
from torch import nn


class CrossAttention(nn.Module):
    """Written for float16: a model in bfloat16 breaks."""

    def __init__(self, dim):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor):
        weights = torch.softmax(self.q(x) @ self.k(x).transpose(-2, -1), -1)
        weights = weights.half()  # expect: attention-mixed-dtypes  #! bad
        v = self.v(x)
        weights = weights.to(v.dtype)  #! ok
        return weights @ v
