# run: go(Decoder(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16
# library: torch=2.3
# torch: 2.3
import torch
import torch.nn as nn
import torch.nn.functional as F


def make_causal(n, device, dtype=torch.float32):
    mask = torch.full((n, n), torch.finfo(dtype).min, device=device)  # expect: attention-mask-dtype
    return torch.triu(mask, diagonal=1)


class Decoder(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def _prepare(self, x, mask):
        n = x.shape[1]
        if mask is None:
            mask = make_causal(n, x.device)  #! bad
            mask = make_causal(n, x.device).to(x.dtype)  #! ok
        return mask

    def forward(self, x, mask=None):
        mask = self._prepare(x, mask)
        b, n, c = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
