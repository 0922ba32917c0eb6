# run: go(Encoder(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
# missed: what was never half, a table of positions, with a parameter of the layer added: only the setting makes that half
import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.level = nn.Parameter(torch.zeros(dim))
        self.q = nn.Linear(dim, dim)
        self.kv = nn.Linear(dim, 2 * dim)

    def forward(self, x):
        where = torch.linspace(0.0, 1.0, x.shape[1], device=x.device)[None, :, None].sin().expand(x.shape)
        where = where + self.level.view(1, 1, -1)  # expect: operator-mixed-dtypes  #! bad
        where = (where + self.level.view(1, 1, -1)).to(x.dtype)  #! ok
        k, v = self.kv(x).chunk(2, dim=-1)
        return F.scaled_dot_product_attention(self.q(where), k, v)
