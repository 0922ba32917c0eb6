"""Operators whose operands differ in dtype as they are written, which autocast mends or the library takes, and which end by an
exception all the same: a checkpoint that has recomputed enough, no memory, shapes that do not fit. Beside them operators under
autocast that raise for their dtypes: autocast does not cast what these have."""
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

LOW = torch.bfloat16


def low(*shape):
    return torch.randn(*shape, dtype=LOW)


def raises(call):
    try:
        call()
    except RuntimeError as error:
        print(type(error).__name__, str(error).replace("\n", " ")[:60])
    else:
        print("taken")


def recomputed():
    up, down = nn.Linear(16, 32), nn.Linear(32, 16)
    x = torch.randn(4, 16, requires_grad=True)
    with torch.autocast("cpu", LOW):
        for _ in range(2):
            checkpoint(lambda x: down(F.silu(up(x))), x, use_reentrant=False).float().square().mean().backward()
    print(x.grad.dtype)


def recomputed_with_a_mask():
    q, k, v = (low(1, 2, 8, 16).requires_grad_() for _ in range(3))
    mask = torch.zeros(8, 8)
    for _ in range(2):
        checkpoint(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=mask), q, k, v, use_reentrant=False).float().sum().backward()
    print(q.grad.dtype)


def no_memory():
    with torch.autocast("cpu", LOW):
        raises(lambda: F.linear(low(1, 16).expand(2**42, 16), torch.randn(32, 16)))


def no_fit():
    """What autocast casts in the first record of the operator, and what it casts in its parts."""
    with torch.autocast("cpu", LOW):
        raises(lambda: F.linear(low(4, 8), torch.randn(32, 16)))
        raises(lambda: low(4, 8) @ torch.randn(16, 4))
        raises(lambda: F.conv1d(low(1, 3, 8), torch.randn(4, 5, 1)))
        raises(lambda: torch.bmm(low(2, 4, 8), torch.randn(2, 16, 4)))
        raises(lambda: torch.einsum("bij,bjk->bik", low(1, 1, 4).expand(2**10, 2**34, 4), torch.randn(1, 4, 4).expand(2**10, 4, 4)))


def stored():
    cache = torch.zeros(1, 2, 32, 16, dtype=LOW)
    with torch.autocast("cpu", LOW):
        raises(lambda: cache.index_copy_(2, torch.tensor([3]), torch.randn(1, 2, 1, 16)))  # call: stored


def double():
    """Autocast does not cast float64."""
    weight = torch.randn(32, 16, dtype=torch.float64)
    with torch.autocast("cpu", LOW):
        raises(lambda: F.linear(torch.randn(4, 16), weight))  # call: double


def double_in_parts():
    weights = torch.randn(1, 8, 8, dtype=torch.float64)
    with torch.autocast("cpu", LOW):
        raises(lambda: torch.einsum("bij,bjk->bik", weights, low(1, 8, 4)))  # call: double_in_parts


def without():
    """The same exception and no autocast: the weights stay what they are."""
    layer = nn.Linear(16, 32)
    with torch.autocast("cpu", LOW):
        raises(lambda: layer(low(4, 8)))
    raises(lambda: layer(low(4, 16)))  # call: without


def wide_mask():
    """A mask that is taken does not excuse another one."""
    q = low(1, 2, 8, 16)
    raises(lambda: F.scaled_dot_product_attention(q, q, q, attn_mask=torch.zeros(8, 8)))
    raises(lambda: F.scaled_dot_product_attention(q, q, q, attn_mask=torch.zeros(8, 8, dtype=torch.float64)))  # call: wide_mask


for name in sys.argv[1:]:
    torch.manual_seed(0)
    globals()[name]()
