"""Calls of scaled_dot_product_attention on a CPU: with autocast around them, and in every pair of dtypes of inputs and mask."""
import itertools
import sys

import torch
import torch.nn.functional as F

LOW = torch.bfloat16


def inputs(q=torch.float32, kv=torch.float32):
    return torch.randn(1, 2, 8, 16, dtype=q), *(torch.randn(1, 2, 8, 16, dtype=kv) for _ in range(2))


def recast():
    with torch.autocast("cpu", LOW):
        for _ in range(3):
            q, k, v = inputs(torch.float32, LOW)
            print(F.scaled_dot_product_attention(q, k, v).dtype)  # call: recast


def all_recast():
    with torch.autocast("cpu", LOW):
        print(F.scaled_dot_product_attention(*inputs()).dtype)


def pairs():
    """The backend that ran, where the pair does not raise."""
    floats = (torch.float32, LOW, torch.float16, torch.float64)
    for kind, mask in itertools.product(floats, (None, torch.bool, *floats)):
        given = None if mask is None else torch.ones(8, 8).to(mask)
        with torch.profiler.profile() as profile:
            try:
                F.scaled_dot_product_attention(*inputs(kind, kind), attn_mask=given)
            except RuntimeError:
                print("raises")
                continue
        names = sorted({event.name for event in profile.events() if "_scaled_dot_product_" in event.name})
        print(given is not None, *names)


globals()[sys.argv[1]]()
