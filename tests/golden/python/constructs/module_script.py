# run: None
# breaks: autocast, fp32-buffers, bf16
import torch
from flash_attn import flash_attn_func

dtype = torch.float32
dtype = torch.bfloat16
q = torch.randn(2, 8, 4, 16, dtype=dtype)
k = torch.randn(2, 8, 4, 16, dtype=dtype)
v = torch.randn(2, 8, 4, 16, dtype=dtype)
scale = torch.full((4, 1), 2.0)  #! bad
scale = torch.full((4, 1), 2.0, dtype=dtype)  #! ok
for _ in range(2):
    out = flash_attn_func(q * scale, k, v)  # expect: attention-implicit-promotion
