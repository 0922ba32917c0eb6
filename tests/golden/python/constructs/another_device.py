# run: go(Model(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Model(nn.Module):
    """On the device that is looked at, what stands behind a test for another accelerator is not run."""

    def __init__(self, dim):
        super().__init__()
        self.query = nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor):
        q = self.query(x).unsqueeze(1)
        k = q
        if x.device.type == "cuda":  #! bad
        if x.device.type == "mps":  #! ok
            k = q.float()  # expect: attention-mixed-dtypes
        return F.scaled_dot_product_attention(q, k, q)
