# run: go(Attention(), x(2, 4, 8, 16), x(3, 16), torch.arange(64).view(2, 4, 8))
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    """The places where a condition holds are tensors of indices, whichever of the two functions lists them."""

    def __init__(self):
        super().__init__()
        self.key = nn.Linear(16, 16)

    def forward(self, q, new, positions: torch.Tensor):
        found = torch.where(positions.flatten() > 60)[0]
        same, = (positions.flatten() > 60).nonzero(as_tuple=True)
        rows = (positions.flatten() > 60).nonzero().squeeze(-1)
        new = self.key(new)
        k = torch.zeros(64, 16, device=q.device, dtype=new.dtype)
        k[found] = torch.zeros(3, 16, device=q.device)  # expect: kv-cache-dtype-mismatch  #! bad
        k[same] = torch.zeros(3, 16, device=q.device)  # expect: kv-cache-dtype-mismatch  #! bad
        k[rows] = torch.zeros(3, 16, device=q.device)  # expect: kv-cache-dtype-mismatch  #! bad
        k[found] = new  #! ok
        k[same] = new  #! ok
        k[rows] = new  #! ok
        k[found] = torch.finfo(k.dtype).min
        k = k.view(2, 4, 8, 16).to(q.dtype)
        return F.scaled_dot_product_attention(q, k, k)
