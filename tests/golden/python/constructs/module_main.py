# run: None
# main: yes
# breaks: autocast, fp32-buffers, bf16
import sys

import torch
from flash_attn import flash_attn_func


def make(*shape):
    return torch.randn(*shape, dtype=dtype)


def attend(q, k, v):
    global calls
    calls += 1
    return flash_attn_func(q, k, v)  # expect: attention-unsupported-dtype


if __name__ == "__main__":
    calls = len(sys.argv)
    dtype = torch.get_default_dtype()  #! bad
    dtype = torch.float16  #! ok
    out = attend(make(2, 8, 4, 16), make(2, 8, 4, 16), make(2, 8, 4, 16))
