# run: go(Block(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16
"""A mask that nn.MultiheadAttention adds: handed by name, behind what is not watched."""
import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.cross = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        n = x.shape[1]
        mask = torch.full((n, n), float("-inf"), device=x.device)  # expect: attention-mask-dtype  #! bad
        mask = torch.full((n, n), float("-inf"), device=x.device, dtype=x.dtype)  #! ok
        h = self.norm(x)
        causal = nn.Transformer.generate_square_subsequent_mask(n, device=x.device)  # expect: attention-mask-dtype  #! bad
        causal = nn.Transformer.generate_square_subsequent_mask(n, device=x.device, dtype=x.dtype)  #! ok
        h, _ = self.attn(h, h, h, need_weights=False, attn_mask=mask.triu(1))
        h = self.attn(h, h, h, None, False, causal)[0]
        padding = torch.zeros(x.shape[0], n, dtype=torch.bool, device=x.device)
        return x + self.cross(query=h, key=x, value=x, key_padding_mask=padding)[0]
