# run: [go(each(64, 4), x(2, 8, 64)) for each in (PerhapsScaled, CachedByShape, ScaledByAList)]
# breaks: fp32-buffers, bf16, autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.width = heads, dim // heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.tables = {}
        self.prepare()

    def prepare(self):
        pass

    def projected(self, x):
        return self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)


class PerhapsScaled(Attention):
    def prepare(self):
        self.table = torch.linspace(0.0, 1.0, self.width)

    def forward(self, x):
        q, k, v = self.projected(x)
        table = getattr(self, "table", None)
        if table is not None:
            q = q * table.to(q.device)  # expect: attention-implicit-promotion  #! bad
            q = q * table.to(q)  #! ok
        return flash_attn_func(q, k, v)


class CachedByShape(Attention):
    def table(self, length, device):
        key = (length, device)
        if key not in self.tables:
            self.tables[key] = torch.linspace(0.0, 1.0, self.width, device=device)
        return self.tables[key]

    def forward(self, x):
        q, k, v = self.projected(x)
        q = q * self.table(x.shape[1], x.device)  # expect: attention-implicit-promotion  #! bad
        q = q * self.table(x.shape[1], x.device).to(q.dtype)  #! ok
        return flash_attn_func(q, k, v)


class ScaledByAList(Attention):
    def forward(self, x):
        q, k, v = self.projected(x)
        scale = torch.tensor([0.5, 2.0, 1.0, 1.0], device=q.device)
        q = q * scale[:, None]  # expect: attention-implicit-promotion  #! bad
        q = q * scale[:, None].to(q.dtype)  #! ok
        return flash_attn_func(q * torch.tensor(0.5), k, v)
