# run: None
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func

qkv = nn.Linear(64, 192).requires_grad_(False)
cast = torch.autocast("cuda", dtype=torch.bfloat16)
x = torch.randn(2, 8, 64)
with cast:
    q, k, v = qkv(x).unflatten(-1, (3, 4, -1)).unbind(2)
    out = flash_attn_func(q, k, v)
if qkv.bias is not None:
    q, k, v = qkv(x).unflatten(-1, (3, 4, -1)).unbind(2)  #! bad
    out = flash_attn_func(q, k, v)  # expect: attention-unsupported-dtype
