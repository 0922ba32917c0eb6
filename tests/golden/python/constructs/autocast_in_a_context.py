# run: run(x)
# breaks: autocast, fp32-buffers, bf16
import contextlib

import torch
import torch.nn.functional as F
from flash_attn import flash_attn_func


@contextlib.contextmanager
def precision(on=True):
    with torch.autocast("cuda", dtype=torch.bfloat16, enabled=on):
        yield


def attend(x, weight):
    with precision():
        q = torch.matmul(x, weight)
        k = F.normalize(q, dim=-1)  # expect: autocast-fp32-operator  #! bad
        k = F.normalize(q, dim=-1).to(q.dtype)  #! ok
    return flash_attn_func(q, k, q)


def run(x):
    return attend(x(2, 8, 4, 16), x(16, 16))
