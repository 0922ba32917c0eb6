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


def refused(q, x):
    try:
        F.scaled_dot_product_attention(q, x, x)  # call: refused
    except RuntimeError:
        pass
    return x


def refused_by_vmap():
    return torch.func.vmap(lambda x: refused(x.float(), x))(low(2, 1, 2, 8, 16))


def refused_on_meta():
    return refused(torch.empty(1, 2, 8, 16, device="meta"), torch.empty(1, 2, 8, 16, dtype=LOW, device="meta"))


class Deep(torch.nn.Module):
    """Dynamo has some more Python frames for each module."""

    def __init__(self, depth):
        super().__init__()
        self.inner = Deep(depth - 1) if depth else None

    def forward(self, x):
        return self.inner(x) if self.inner else F.scaled_dot_product_attention(x.float(), x, x)


def refused_by_dynamo():
    model = torch.compile(Deep(4), backend="eager")
    x = low(1, 2, 8, 16)
    try:
        model(x)  # call: refused_by_dynamo
    except RuntimeError:
        pass
    return x


class Wrapped(torch.Tensor):
    """A class of tensors that has one inside, as those of quantisation and of sharding."""

    @staticmethod
    def __new__(cls, inner):
        made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, device=inner.device, strides=inner.stride())
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, function, types, arguments=(), keywords=None):
        inner = [one.inner if isinstance(one, Wrapped) else one for one in arguments]
        given = function(*inner, **(keywords or {}))
        return tuple(Wrapped(one) if isinstance(one, torch.Tensor) else one for one in given) if isinstance(given, tuple) else Wrapped(given)


def widened_by_grad():
    def loss(x):
        wide = x * torch.ones(16)  # call: widened_by_grad
        return attend(wide).sum()
    return torch.func.grad(loss)(low(2, 1, 2, 8, 16))


def widened_in_a_class():
    x = Wrapped(low(1, 2, 8, 16))
    wide = x * torch.ones(16)  # call: widened_in_a_class
    attend(wide)
    return x


def right_in_a_class():
    return attend(Wrapped(low(1, 2, 8, 16)))


def recast():
    with torch.autocast("cpu", LOW), FakeTensorMode():
        x = torch.empty(1, 2, 8, 16, dtype=LOW)
        return refused(x.float(), x)


for name in sys.argv[1:]:
    print(globals()[name]().dtype)
