# run: go(Model(SimpleNamespace(_attn_implementation="eager")), torch.zeros(2, 8, dtype=torch.int64))
# breaks: fp32-buffers, bf16
# models: yes
# products: half
from types import SimpleNamespace

import torch
import torch.nn as nn
from transformers.masking_utils import create_bidirectional_mask


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x, mask, scale: float | None = None):
        q, k, v = self.qkv(x).unsqueeze(1).chunk(3, dim=-1)
        if scale is None:
            scale = q.shape[-1] ** -0.5
        scores = q @ k.transpose(-1, -2) * scale
        if mask is not None:
            scores = scores + mask
        scores = scores.softmax(dim=-1, dtype=torch.float32)  # expect: attention-mixed-dtypes  #! bad
        scores = scores.softmax(dim=-1)  #! ok
        return scores @ v


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config, self.embed, self.attention = config, nn.Embedding(16, 64), Attention(64)

    def forward(self, ids):
        x = self.embed(ids)
        mask = create_bidirectional_mask(config=self.config, inputs_embeds=x, attention_mask=None)
        return self.attention(x, mask)
