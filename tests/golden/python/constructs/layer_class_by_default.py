# run: go(Block(64, 4), x(2, 8, 64))
# breaks: autocast
import torch.nn as nn
from flash_attn import flash_attn_func


class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        return self.norm(x)  # expect: autocast-fp32-operator  #! bad
        return self.norm(x).to(x.dtype)  #! ok


class Attention(nn.Module):
    def __init__(self, dim, heads, norm_layer=None):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.q_norm = norm_layer(dim // heads) if norm_layer is not None else nn.Identity()

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        return flash_attn_func(self.q_norm(q), k, v)


class Block(nn.Module):
    def __init__(self, dim, heads, attention=Attention, norm_layer: type = Norm):
        super().__init__()
        self.attention = attention(dim, heads, norm_layer=norm_layer)

    def forward(self, x):
        return self.attention(x).flatten(2)
