"""What each release of PyTorch has: attention calls, right and wrong, other operators, and a backward pass that raises. Prints
of each call whether this release takes it, and how many attention calls there were."""
import torch
import torch.nn.functional as F

LOW = torch.bfloat16
ATTENTION = getattr(F, "scaled_dot_product_attention", None) or F._scaled_dot_product_attention  # 1.13
CALLS = 0


class Narrow(torch.autograd.Function):
    """Its backward has a gradient in float32 beside weights in bfloat16."""

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(weight)
        return (x.to(LOW) @ weight).float()

    @staticmethod
    def backward(ctx, gradient):
        weight, = ctx.saved_tensors
        return gradient @ weight.t(), None


def attend(*operands, **rest):
    global CALLS  # pylint: disable=global-statement
    CALLS += 1
    try:
        ATTENTION(*operands, **rest)
        return "taken"
    except RuntimeError:
        return "raises"


def backward(y):
    try:
        y.sum().backward()
        return "taken"
    except RuntimeError:
        return "raises"


def main():
    x = torch.randn(1, 2, 8, 16)
    low = x.to(LOW)
    for _ in range(10):
        attend(x, x, x)
        (x @ x.transpose(-1, -2)).softmax(-1)
        F.layer_norm(x, (16,))
    attend(low, low, low, is_causal=True)
    attend(low, low, low, torch.zeros(8, 8, dtype=torch.bool))
    print("mixed", attend(low * torch.ones(16), low, low))  # call: mixed
    print("mask", attend(low, low, low, torch.zeros(8, 8)))  # call: mask
    print("double", attend(low, low, low, torch.zeros(8, 8).double()))  # call: double
    print("backward", backward(Narrow.apply(torch.randn(4, 8, requires_grad=True), torch.randn(8, 8, dtype=LOW))))  # call: backward
    print("calls", CALLS)


torch.set_num_threads(1)
main()
