# run: go(Noised(), x(2, 4, 8, 16))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Noised(nn.Module):
    """What comes of an element of a tensor and of the code's own numbers is a float."""

    def __init__(self):
        super().__init__()
        self.noise = 1.5

    def forward(self, x):
        steps = torch.linspace(0.0, 1.0, 4, dtype=torch.float32)
        hat = steps.max().item() * (1 + self.noise)
        q = x if isinstance(hat, float) else x.double()
        if isinstance(hat, float):
            hat = torch.full((1, 1, 1, 1), hat, device=x.device)
        q = q * hat  # expect: attention-implicit-promotion  #! bad
        q = q * hat.to(x.dtype)  #! ok
        return F.scaled_dot_product_attention(q, x, x)
