# run: decode(go, x, ids)
# breaks: fp32-buffers, bf16, autocast
# missed: a cache with the dtype of token ids, which no setting states
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, vocab, dim, heads):
        super().__init__()
        self.heads = heads
        self.embed = nn.Embedding(vocab, dim)
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, input_ids):
        h = self.embed(input_ids)
        b, n, d = h.shape
        q, k, v = self.qkv(h).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        shape = (b, self.heads, n, d // self.heads)
        k_cache = torch.zeros(shape, dtype=input_ids.dtype, device=h.device)  #! bad
        k_cache = torch.zeros(shape, dtype=k.dtype, device=h.device)  #! ok
        k_cache = k_cache.index_copy(2, torch.arange(n, device=h.device), k.to(k_cache.dtype))
        with torch.autocast("cuda", enabled=False):
            return F.scaled_dot_product_attention(q, k_cache, v)  # expect: attention-mixed-dtypes


def decode(go, x, ids):
    return go(Model(10, 64, 4), ids(2, 4))
