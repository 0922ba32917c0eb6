"""Operators that raise because their operands differ in dtype, behind a promotion some lines before; and calls that look
like them and are right. The comments mark the line that a report has to open with."""
import sys

import torch
import torch.nn.functional as F
from torch import nn

LOW = torch.bfloat16


def low(*shape):
    return torch.randn(*shape or (2, 8, 16), dtype=LOW)


def raises(call):
    try:
        call()
    except RuntimeError as error:
        print(type(error).__name__, str(error)[:30])


def behind_a_norm():
    norm_weight = torch.ones(16)
    hidden = low()
    hidden = hidden * torch.rsqrt(hidden.float().pow(2).mean(-1, keepdim=True)).to(LOW)
    hidden = norm_weight * hidden  # call: behind_a_norm
    raises(lambda: nn.Linear(16, 16).to(LOW)(hidden.relu()))


def bias():
    raises(lambda: F.linear(low(), low(4, 16), torch.zeros(4)))  # call: bias


def scores():
    table = torch.ones(16)
    q = low(1, 2, 8, 16) * table  # call: scores
    raises(lambda: q @ low(1, 2, 8, 16).transpose(-1, -2))


def weights_times_values():
    q, k, v = (low(1, 2, 8, 16) for _ in range(3))
    weights = torch.softmax(q @ k.transpose(-1, -2), -1, dtype=torch.float32)  # call: weights_times_values
    raises(lambda: weights @ v)


def by_einsum():
    q = low(1, 2, 8, 16) + torch.zeros(16)  # call: by_einsum
    raises(lambda: torch.einsum("bhid,bhjd->bhij", q, low(1, 2, 8, 16)))


def cache():
    cache = torch.zeros(1, 2, 32, 16, dtype=LOW)
    key = low(1, 2, 1, 16) * torch.ones(16)  # call: cache
    raises(lambda: cache.index_copy_(2, torch.tensor([3]), key))


def cache_by_index():
    cache = torch.zeros(4, 16, dtype=LOW)
    key = low(1, 16) * torch.ones(16)  # call: cache_by_index

    def store():
        cache[torch.tensor([1])] = key
    raises(store)


def convolution():
    x = low(1, 3, 8) * torch.ones(8)  # call: convolution
    raises(lambda: F.conv1d(x, low(4, 3, 1)))


def double():
    """A table in NumPy's default dtype is float64, and the model float32."""
    table = torch.ones(16, dtype=torch.float64)
    x = torch.randn(8, 16) * table  # call: double
    raises(lambda: F.linear(x, torch.randn(4, 16)))


def right():
    """Nothing here is wrong: shapes that do not fit in one dtype, autocast, a store that converts, mixes that promote."""
    raises(lambda: low(2, 3) @ low(2, 3))
    layer = nn.Linear(16, 16)
    with torch.autocast("cpu", dtype=LOW):
        print(layer(low()).dtype, (low() @ torch.randn(16, 4)).dtype)
    cache = torch.zeros(4, 16, dtype=LOW)
    cache[1:2] = torch.randn(1, 16)
    print(cache.dtype, F.layer_norm(low(), (16,), torch.ones(16), torch.zeros(16)).dtype)
    raises(lambda: torch.ones(2, 3, dtype=torch.int64) @ torch.ones(2, 3))


torch.manual_seed(0)
globals()[sys.argv[1]]()
