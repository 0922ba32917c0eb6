"""Attention whose operands stand for others: under the transforms of torch.func and in nested tensors; and traced, where nothing
is computed."""
import sys
import warnings

import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode

LOW = torch.bfloat16
warnings.simplefilter("ignore")


def attend(x):
    return F.scaled_dot_product_attention(x, x, x)


def low(*shape):
    return torch.randn(*shape, dtype=LOW)


def grad():
    return torch.func.grad(lambda x: attend(x).float().sum())(low(1, 2, 8, 16))


def vmap():
    return torch.func.vmap(attend)(low(2, 1, 2, 8, 16))


def traced():
    with FakeTensorMode():
        return attend(torch.empty(1, 2, 8, 16, dtype=LOW))


def on_meta():
    return attend(torch.empty(1, 2, 8, 16, dtype=LOW, device="meta"))


def nested():
    return attend(torch.nested.nested_tensor([low(n, 2, 16) for n in (3, 5)], dtype=LOW, layout=torch.jagged).transpose(1, 2))


def plain():
    return attend(low(1, 2, 8, 16))


for name in sys.argv[1:]:
    print(globals()[name]().dtype)
