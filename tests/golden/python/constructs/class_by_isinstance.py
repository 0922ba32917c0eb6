# run: go(Attention(64, 4, Table(8)), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn
import torch.nn.functional as F


class Table:
    """A plain object: a model's conversion passes it by."""

    def __init__(self, length):
        self.positions = torch.linspace(0, 1, length)[:, None]

    def put_on(self, x):
        return x + self.positions[: x.shape[-2]]  # expect: attention-implicit-promotion  #! bad
        return x + self.positions[: x.shape[-2]].to(x.dtype)  #! ok


class Attention(nn.Module):
    """Nothing says what is handed in but the test of its class, and behind that nothing else."""

    def __init__(self, dim, heads, table=None):
        super().__init__()
        self.heads, self.table = heads, None
        self.qkv = nn.Linear(dim, 3 * dim)
        self.take(table)

    def take(self, table):
        self.table = table

    def forward(self, x, table=None):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4).unbind(0)
        if table is None:
            table = self.table
        if not isinstance(table, Table):
            raise TypeError(f"a Table is wanted, not {table!r}")
        return F.scaled_dot_product_attention(table.put_on(q), k, v)
