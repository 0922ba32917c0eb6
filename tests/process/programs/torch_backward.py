"""Backward calls with wrong dtypes; the comments mark the lines of their forward calls."""
import pathlib
import sys
import threading
import weakref

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent / "stand_in"))
LOW = torch.bfloat16


class Narrow(torch.autograd.Function):
    """A product whose backward has a gradient in float32 beside weights in bfloat16."""

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(weight)
        return (x.to(LOW) @ weight).float()

    @staticmethod
    def backward(ctx, gradient):
        weight, = ctx.saved_tensors
        return gradient @ weight.t(), None


def inputs():
    return torch.randn(4, 8, requires_grad=True), torch.randn(8, 8, dtype=LOW)


def run_backward(y):
    try:
        y.sum().backward()
    except RuntimeError as error:
        print(error)


def function():
    run_backward(Narrow.apply(*inputs()))  # call: function


def behind_others():
    """Other nodes and other Functions come before and after it."""
    x, weight = inputs()
    y = torch.sin(x) * 2
    y = Narrow.apply(y, weight)  # call: behind_others
    run_backward((y + torch.cos(x)).square())


def on_another_thread():
    """The same numbers of nodes on two threads; backward on the second."""
    made = []

    def other():
        made.append(Narrow.apply(*inputs()))  # call: on_another_thread

    threads = [threading.Thread(target=other)]
    Narrow.apply(*inputs())
    for thread in threads:
        thread.start()
        thread.join()
    run_backward(made[0])


def two_forwards():
    for _ in range(2):
        run_backward(Narrow.apply(*inputs()))  # call: first
    run_backward(Narrow.apply(*inputs()))  # call: second


def attention():
    """flash-attn's backward operator gets a gradient in float32."""
    import flash_attn  # pylint: disable=import-outside-toplevel
    q, k, v = (torch.randn(1, 8, 2, 16, dtype=LOW, requires_grad=True) for _ in range(3))
    out = flash_attn.flash_attn_with_backward(q, k, v)  # call: attention
    run_backward(out)


def not_known():
    """The node is that of an operator whose calls are not noted."""
    x = torch.randn(4, 8, requires_grad=True)
    weight = torch.randn(8, 8, dtype=LOW)
    y = x * 2
    y.register_hook(lambda gradient: gradient @ weight)
    run_backward(y)


def freed():
    """What a node holds is freed with it, however often its backward is a finding."""
    for _ in range(100):
        x, weight = inputs()
        known = weakref.ref(x)
        run_backward(Narrow.apply(x, weight))
        del x
        assert known() is None


def right():
    x, weight = inputs()
    run_backward((x.to(LOW) @ weight).float())


torch.manual_seed(0)
globals()[sys.argv[1]]()
