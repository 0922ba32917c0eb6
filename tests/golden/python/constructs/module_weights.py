# run: None
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim, heads, dtype=None):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim, dtype=dtype)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        return flash_attn_func(q, k, v)  # expect: attention-unsupported-dtype


def evaluate(batch):
    return model(batch)


dtype = torch.get_default_dtype()  #! bad
dtype = torch.float16  #! ok
model = Attention(64, 4, dtype)
data = torch.randn(2, 8, 64)
for step in range(2):
    loss = evaluate(data.to(dtype))
