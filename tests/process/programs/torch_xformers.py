"""Calls of xFormers itself, which has no kernel for a CPU: where a gradient is wanted its autograd Function begins before its Python code
looks at dtypes and kernels. Prints what each call raised."""
import torch
from xformers.ops import memory_efficient_attention

LOW = torch.bfloat16


def low(wants_gradient=False):
    return torch.ones(1, 8, 2, 16, dtype=LOW, requires_grad=wants_gradient)


def table():
    return torch.ones(16)


CALLS = {
    "right": lambda: memory_efficient_attention(low(True), low(), low()),
    "right_bias": lambda: memory_efficient_attention(low(True), low(), low(), attn_bias=torch.zeros(1, 2, 8, 8, dtype=LOW)),
    "wide_q": lambda: memory_efficient_attention(low(True) * table(), low(), low()),  # call: wide_q
    "wide_k": lambda: memory_efficient_attention(low(True), low() * table(), low()),  # call: wide_k
    "without_gradient": lambda: memory_efficient_attention(low(), low() * table(), low()),
}

for name, call in CALLS.items():
    try:
        call()
    except (NotImplementedError, ValueError) as error:
        print(name, type(error).__name__, str(error)[:23])
