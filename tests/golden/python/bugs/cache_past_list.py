# run: go(Streaming(64, 4), x(2, 1, 64))
# breaks: fp32-buffers, bf16, autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Streaming(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x, past=None):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).unbind(2)
        if past is None:
            past = [torch.zeros(b, 0, self.heads, d // self.heads, device=x.device) for _ in range(2)]  #! bad
            past = [k.new_zeros(b, 0, self.heads, d // self.heads) for _ in range(2)]  #! ok
        past_k, past_v = past
        k = torch.cat((past_k, k), dim=1)  # expect: attention-implicit-promotion
        v = torch.cat((past_v, v), dim=1)  # expect: attention-implicit-promotion
        return flash_attn_func(q, k, v, causal=True)
