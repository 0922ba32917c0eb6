# run: attend(*(x(2, 8, 4, 16) for _ in range(3)))
# breaks: fp32-buffers, bf16, autocast
import torch
from flash_attn import flash_attn_func


def attend(q, k, v):
    return flash_attn_func(q, k * torch.ones(1), v)  # expect: attention-implicit-promotion  #! bad
    return flash_attn_func(q, k * torch.ones(()), v)  #! ok
