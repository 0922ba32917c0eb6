"""A training loop whose every step calls attention with a wide q, each on a line of its own, and once with a q of the step before."""
import torch
import torch.nn.functional as F

LOW = torch.bfloat16


def low():
    return torch.randn(1, 2, 4, 8, dtype=LOW)


def attend(q):
    try:
        F.scaled_dot_product_attention(q, low(), low())
    except RuntimeError:
        pass


def wide():
    return low() * torch.ones(8)


MISTAKES = [
    lambda: attend(low() * torch.ones(8)),  # call: step 0
    lambda: attend(low() * torch.ones(8)),  # call: step 1
    lambda: attend(low() * torch.ones(8)),  # call: step 2
    lambda: attend(low() * torch.ones(8)),  # call: step 3
    lambda: attend(low() * torch.ones(8)),  # call: step 4
    lambda: attend(low() * torch.ones(8)),  # call: step 5
    lambda: attend(low() * torch.ones(8)),  # call: step 6
]
weight = torch.ones(8, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
kept = None
for number, mistake in enumerate(MISTAKES):
    mistake()
    if number == 3:
        attend(kept)  # call: older
    kept = wide()
    optimizer.zero_grad()
    (weight * weight).sum().backward()
    optimizer.step()
