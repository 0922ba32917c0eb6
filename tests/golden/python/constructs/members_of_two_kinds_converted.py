# run: go(Model(nn.Identity(), 64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
# ruled out: fp16-fp32-buffers, bf16-fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Table(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.inner = nn.Embedding(2, dim * dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.inner.weight[0].view(x.shape[-1], x.shape[-1])


class Model(nn.Module):
    """A conversion of the whole converts the member that each path has, of one class or another."""

    def __init__(self, encoder, dim, by_table: bool = False):
        super().__init__()
        self.encoder = encoder
        if by_table:
            self.a, self.b = Table(dim), Table(dim)
        else:
            self.a, self.b = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.qkv = nn.Linear(dim, dim * 3)
        self.to(dtype=torch.float32)  #! ok
        self.eval()  #! bad

    def forward(self, x: torch.Tensor):
        x = self.encoder(x)
        x = torch.cat([self.a(x), self.b(x)], dim=1)
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, -1)
        k = k.float()  # expect: attention-mixed-dtypes  #! bad
        return F.scaled_dot_product_attention(q, k, v)
