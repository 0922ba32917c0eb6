# run: run(x)
# breaks: fp32-buffers, bf16
import contextlib

import torch
import torch.nn.functional as F


@contextlib.contextmanager
def default_dtype(dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def attend(q):
    with default_dtype(q.dtype):
        k = torch.zeros(2, 4, 8, 16)  #! ok
        other = torch.zeros(2, 4, 8, 16)  #! bad
    k = torch.zeros(2, 4, 8, 16)  # expect: attention-mixed-dtypes  #! bad
    return F.scaled_dot_product_attention(q, k, k)


def run(x):
    return attend(x(2, 4, 8, 16))
