# run: go(Model(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Rotary(nn.Module):
    def forward(self, x: torch.Tensor):
        device_type = x.device.type if isinstance(x.device.type, str) and x.device.type != "mps" else "cpu"
        with torch.autocast(device_type=device_type, enabled=False):
            return x * 2


class Model(nn.Module):
    """That code asks whether it is on a third device says nothing of what CUDA's kernels take."""

    def __init__(self, dim):
        super().__init__()
        self.q, self.rotary = nn.Linear(dim, dim), Rotary()

    def forward(self, x: torch.Tensor):
        q = self.rotary(self.q(x).unsqueeze(1))
        mask = torch.ones(8, 8, device=x.device)  # expect: attention-mask-dtype  #! bad
        mask = torch.ones(8, 8, device=x.device, dtype=q.dtype)  #! ok
        return F.scaled_dot_product_attention(q, q, q, mask)
