"""Promotions in code that PyTorch generates: `torch_compiled.py BACKEND`, one of torch.compile's, or `fx`."""
import sys

import torch
import torch.nn.functional as F

BACKEND = sys.argv[1]
LOW = torch.bfloat16
torch.manual_seed(0)
table = torch.ones(16)
weights = torch.randn(16, 16, dtype=LOW)


def attend(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def generated(function):
    if BACKEND == "fx":
        return torch.fx.symbolic_trace(function)
    return torch.compile(function, backend=BACKEND)


def one(x):  # call: one
    y = F.linear(x, weights) * table
    return attend(y, y, y)


def other(x):  # call: other
    y = F.linear(x, weights) * table
    return attend(y, y, y)


def several(x):  # call: several
    y, z = F.linear(x, weights) * table, F.linear(x.neg(), weights) * table
    return attend(y, y, y), attend(z, z, z)


def table_of(x):  # call: table_of
    return x * table


def main():
    x = torch.randn(2, 4, 8, 16, dtype=LOW)
    with torch.no_grad():
        if BACKEND == "inductor":
            try:
                attend(generated(table_of)(x), x, x)
            except RuntimeError:
                print("refused")
            return
        for function in (one, other, several):
            compiled = generated(function)
            compiled(x)  # call: run
            compiled(x[:1])
    print("done")


main()
