"""flex_attention, called without torch.compile: `torch_flex.py NAME`."""
import sys
import warnings

import torch
from torch.nn.attention.flex_attention import flex_attention

warnings.simplefilter("ignore")
torch.manual_seed(0)
q, k, v = (torch.randn(1, 2, 32, 16, dtype=torch.bfloat16) for _ in range(3))


def right():
    return flex_attention(q, k, v)


def widened():
    wide = q * torch.ones(32, 16)  # call: widened
    return flex_attention(wide, wide, wide)


def widened_alone():
    wide = q * torch.ones(32, 16)  # call: widened_alone
    return flex_attention(wide, k, v)


def in_eight_bits():
    return flex_attention(q.to(torch.float8_e4m3fn), k, v)  # call: in_eight_bits


for name in sys.argv[1:]:
    try:
        print(globals()[name]().dtype)
    except (RuntimeError, NotImplementedError) as error:
        print(type(error).__name__)
