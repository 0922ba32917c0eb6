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


def norm():
    x = low() * torch.ones(16)  # call: norm
    raises(lambda: F.layer_norm(x, (16,), torch.ones(16, dtype=LOW), torch.zeros(16, dtype=LOW)))


def transposed_convolution():
    x = low(1, 3, 8) + torch.ones(8)  # call: transposed_convolution
    raises(lambda: F.conv_transpose1d(x, low(3, 4, 1)))


def take(q):
    k = low(1, 2, 8, 16)
    raises(lambda: F.scaled_dot_product_attention(q, k, k))
    raises(lambda: q @ k.transpose(-1, -2))
    raises(lambda: F.linear(q, low(4, 16)))


def one_promotion():
    """What one line widens reaches three calls."""
    q = low(1, 2, 8, 16)
    q = q * torch.ones(16)  # call: one_promotion
    take(q)


def two_promotions():
    q = low(1, 2, 8, 16)
    take(q * torch.ones(16))  # call: first_promotion
    take(q * torch.ones(16))  # call: second_promotion


def right_mixes():
    """These take float32 beside a low input (a transposed convolution its bias, of a float32 one in any dtype); they raise for their shapes."""
    wide, short = torch.ones(8), torch.ones(4)
    raises(lambda: F.layer_norm(low(2, 8), (4,), short, short))
    raises(lambda: F.group_norm(low(2, 8, 4), 3, wide, wide))
    raises(lambda: F.batch_norm(low(2, 8, 4), None, None, short, short, training=True))
    raises(lambda: F.instance_norm(low(2, 8, 4), None, None, short, short))
    raises(lambda: F.conv_transpose1d(torch.randn(1, 5, 8), torch.randn(3, 4, 1), low(4)))
    print(F.layer_norm(low(2, 8), (8,), wide, wide).dtype, F.group_norm(low(2, 8, 4), 2, wide, wide).dtype,
          F.batch_norm(low(2, 8, 4), None, None, wide, wide, training=True).dtype, F.instance_norm(low(2, 8, 4), None, None, wide, wide).dtype,
          F.conv_transpose1d(torch.randn(1, 3, 8), torch.randn(3, 4, 1), low(4)).dtype)


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


for name in sys.argv[1:]:
    torch.manual_seed(0)
    globals()[name]()
