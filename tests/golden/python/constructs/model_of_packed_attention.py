# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
# models: yes
import torch
from torch import nn
from flash_attn.modules.mha import FlashCrossAttention, FlashSelfAttention


class Attention(nn.Module):
    """The library's modules take packed tensors, and half ones alone."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.inner, self.cross = FlashSelfAttention(causal=True), FlashCrossAttention()

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).view(*x.shape[:2], 3, self.heads, -1).unbind(2)
        k = k * torch.ones(16, device=x.device)  # expect: attention-implicit-promotion  #! bad
        return self.inner(torch.stack([q, k, v], dim=2)), self.cross(q, torch.stack([k, v], dim=2))
