# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: bf16, fp32-buffers
# products: half
import torch
import torch.nn as nn


class Attention(nn.Module):
    """Where no mask is handed in it is a causal one, in float32; padding is looked for in either case."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x, mask=None, padding=None):
        b, n, d = x.shape
        if mask is None:
            mask = torch.full((n, n), -10000.0, device=x.device).triu(1)  #! bad
            mask = torch.full((n, n), -10000.0, device=x.device, dtype=x.dtype).triu(1)  #! ok
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        scores = q @ k.transpose(-2, -1)
        if mask.shape[-1] == n:
            scores = scores + mask  # expect: attention-mixed-dtypes
        if padding is not None and padding.dim() == 2:
            scores = scores.masked_fill(padding[:, None, None], float("-inf"))
        return (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, d)
