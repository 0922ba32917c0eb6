"""The README's first example: a table is float32 whatever the model is, and widens the queries before the flash kernel."""
import torch
from flash_attn import flash_attn_func


def attend(q, k, v):
    scale = torch.full((1, 1, 4, 1), 4.0)
    q = q * scale
    return flash_attn_func(q, k, v)
