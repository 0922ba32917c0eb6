"""Calls of a project's own, which only a contract of its own knows: an operator of torch.library and an autograd Function."""
import torch

LOW = torch.bfloat16


@torch.library.custom_op("mine::attend", mutates_args=())
def attend(scale: float, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return q.to(v.dtype) * scale


class MyRotary(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, cos):
        return x.clone()


def low():
    return torch.randn(1, 2, 8, 16, dtype=LOW)


attend(1.0, low(), low(), low())
wide = low() * torch.ones(16)  # call: attend
attend(1.0, wide, low(), low())
table = torch.ones(16, dtype=LOW)
MyRotary.apply(low(), table)
x = low() + torch.zeros(16)  # call: rotate
MyRotary.apply(x, table)
