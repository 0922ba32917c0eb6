"""Attention that is written as two products and a softmax, and calls that take float32 which an operator implied. The
comments mark the line that a report has to open with; what starts with "right" is."""
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn

LOW = torch.bfloat16


def heads(dtype=LOW):
    return [torch.randn(2, 2, 8, 16, dtype=dtype) for _ in range(3)]


def by_hand(q, k, v, mask=None):
    """As transformers does it: the softmax in float32, and back."""
    scores = q @ k.transpose(-1, -2) / math.sqrt(16)
    if mask is not None:
        scores = scores + mask
    return F.softmax(scores, dim=-1, dtype=torch.float32).to(v.dtype) @ v


def rotary(x, cos, sin):
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat((-second, first), -1) * sin


def wide_scores():
    q, k, v = heads()
    angle = torch.randn(8, 16)
    wide = []
    for x in (q, k):
        wide.append(x * angle)  # call: wide_scores
    by_hand(*wide, v)


def wide_values():
    q, k, v = heads()
    v = v * torch.ones(16)  # call: wide_values
    torch.matmul(torch.softmax(q @ k.transpose(-1, -2), -1, dtype=torch.float32), v)


def by_einsum():
    q, k, v = heads()
    q = torch.ones(16) * q  # call: by_einsum
    scores = torch.einsum("bhid,bhjd->bhij", q, k.float())
    torch.einsum("bhij,bhjd->bhid", scores.softmax(-1).to(LOW), v)


def fused():
    q, k, v = heads()
    q = q * torch.ones(16)  # call: fused
    F.scaled_dot_product_attention(q, k.to(q.dtype), v.to(q.dtype))


def var_attention():
    """The parameter that scales normalised q is float32, as VAR's is."""
    q, k, v = heads()
    scale_mul = nn.Parameter(torch.full((1, 2, 1, 1), 4.0).log())
    scale = scale_mul.clamp_max(math.log(100)).exp()
    q = F.normalize(q, dim=-1).mul(scale)  # call: var_attention
    try:
        F.scaled_dot_product_attention(q, F.normalize(k, dim=-1), v)
    except RuntimeError as error:
        print(type(error).__name__)


def right_eager():
    q, k, v = heads()
    cos, sin = torch.randn(8, 16), torch.randn(8, 16)
    by_hand(rotary(q, cos.to(LOW), sin.to(LOW)), rotary(k, cos.to(LOW), sin.to(LOW)), v, torch.zeros(8, 8, dtype=LOW))
    wide = [rotary(x.float(), cos, sin).to(LOW) for x in (q, k)]
    by_hand(*wide, v)


def right_wide_on_purpose():
    q, k, v = heads()
    by_hand(q.float(), k.float(), v.float())
    F.scaled_dot_product_attention(q.float() * torch.ones(16), k.float(), v.float())


def right_float32():
    """A half image, normalised by float32 constants, into a model in float32 with a half table."""
    image = torch.randn(2, 8, 32, dtype=LOW) / torch.full((32,), 3.0)
    q, k, v = (nn.Linear(32, 32)(image).unflatten(-1, (2, 16)).transpose(1, 2) for _ in range(3))
    table = torch.ones(16, dtype=LOW)
    by_hand(q * table, k * table, v, torch.zeros(8, 8, dtype=LOW))
    F.scaled_dot_product_attention(q * table, k * table, v)


def right_autocast():
    x = torch.randn(2, 8, 32)
    with torch.autocast("cpu", dtype=LOW):
        q, k, v = (nn.Linear(32, 32)(x).unflatten(-1, (2, 16)).transpose(1, 2) for _ in range(3))
        cos, sin = torch.randn(8, 16), torch.randn(8, 16)
        q, k = rotary(q, cos, sin), rotary(k, cos, sin)
        by_hand(q, k, v)
        F.scaled_dot_product_attention(q, k, v)


def right_cast_query():
    """As GPT-J and its like: q and k are cast for the scores, the weights back for the values. The note is of the casts."""
    q, k, v = heads()
    wide = []
    for x in (q, k):
        wide.append(x.to(torch.float32))  # call: right_cast_query
    by_hand(wide[0] * torch.ones(16), wide[1], v)


def rotated_query(then):
    """As GPT-J itself: the tables that rotate q and k are float32, and what comes of that is cast to float32 for the scores."""
    q, k, v = heads()
    angle = torch.randn(8, 16)
    wide = []
    for x in (q, k):
        x = x * angle  # call: to_device_after
        wide.append(then(x.permute(0, 1, 2, 3)))
    by_hand(*wide, v)


def right_cast_to_own():
    rotated_query(lambda x: x.to(torch.float32))  # call: right_cast_to_own


def right_cast_to_own_fused():
    """The dtype that it has already is the one that is asked for."""
    q, k, v = heads()
    q = (q * torch.ones(16)).float()
    F.scaled_dot_product_attention(q, k.to(torch.float32), v.to(torch.float32))


def to_device_after():
    """A cast to where it is already says nothing of its dtype."""
    rotated_query(lambda x: x.to("cpu"))


def right_cast_values():
    q, k, v = heads()
    weights = torch.softmax(q @ k.transpose(-1, -2), -1, dtype=torch.float32)
    v = v.float()  # call: right_cast_values
    weights @ v


def right_cast_table():
    """A model in float32: what is cast is the table alone."""
    q, k, v = heads(torch.float32)
    table = torch.ones(8, 16, dtype=LOW).float()
    by_hand(q * table, table * k, v)


def right_cast_before_projection():
    x = torch.randn(2, 8, 32, dtype=LOW).float()
    by_hand(*(nn.Linear(32, 32)(x).unflatten(-1, (2, 16)).transpose(1, 2) for _ in range(3)))


def right_router():
    """Probabilities that are no attention."""
    x = torch.randn(2, 8, 32, dtype=LOW) * torch.ones(32)
    F.softmax(nn.Linear(32, 4)(x), -1)
    F.softmax(x @ torch.randn(32, 4), -1)


for name in sys.argv[1:]:
    torch.manual_seed(0)
    globals()[name]()
