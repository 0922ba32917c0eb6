# run: [go(each(64, 4), x(2, 8, 64)) for each in (ByKeywords, OfAParameter, Rotated, Sorted, Masked)]
# breaks: fp32-buffers, bf16, autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)

    def projected(self, x):
        return self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)


class ByKeywords(Attention):
    def forward(self, x):
        q, k, v = self.projected(x)
        wide = {"dtype": torch.float32, "device": x.device}
        own = dict(dtype=v.dtype)
        q = q.to(**wide)  # expect: attention-mixed-dtypes  #! bad
        q = q.to(**wide).to(**own)  #! ok
        return flash_attn_func(q, k, v)


class OfAParameter(Attention):
    def forward(self, x):
        q, k, v = self.projected(x)
        dtype = next(self.qkv.parameters()).dtype
        k = k.to(dtype).to(v.dtype)
        q = q.float()  # expect: attention-mixed-dtypes  #! bad
        q = q.float().to(k.dtype)  #! ok
        return flash_attn_func(q, k, v)


class Rotated(Attention):
    def forward(self, x):
        q, k, v = self.projected(x)
        angles = torch.outer(torch.arange(q.shape[1]).float(), torch.ones(q.shape[-1] // 2))

        def turned(t, by):
            pairs = torch.view_as_complex(t.float().reshape(*t.shape[:-1], -1, 2))  # expect: attention-mixed-dtypes
            return torch.view_as_real(pairs * by).flatten(3)  #! bad
            return torch.view_as_real(pairs * by).flatten(3).type_as(t)  #! ok

        by = torch.polar(torch.ones_like(angles), angles)[None, :, None].to(q.device)
        return flash_attn_func(turned(q, by), k, v)


class Sorted(Attention):
    def forward(self, x):
        q, k, v = self.projected(x)
        q = q.float().sort(-1, descending=True)[0]  # expect: attention-mixed-dtypes  #! bad
        q = q.float().sort(-1, descending=True)[0].to(v.dtype)  #! ok
        return flash_attn_func(q, k, v)


class Masked(Attention):
    def forward(self, x, kept=1):
        q, k, v = self.projected(x)
        if not isinstance(kept, int):
            kept = kept[:, None, None, None]
        q = q * torch.as_tensor(kept)
        q = q * torch.tensor([kept])[:, None].float()  # expect: attention-implicit-promotion  #! bad
        q = q * torch.tensor([kept])[:, None].float().to(v.dtype)  #! ok
        return flash_attn_func(q, k, v)
