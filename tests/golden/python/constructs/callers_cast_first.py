# run: reference(x(2, 4, 8, 16), x(2, 4, 8, 16), x(2, 4, 8, 16))
# products: wide
# breaks: fp32-buffers, bf16
import torch


def scan(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor):
    gates = torch.ones(8, 8, dtype=torch.float32, device=q.device).tril()
    weights = (q @ k.transpose(-1, -2)).softmax(-1)
    weights = weights * gates  # expect: attention-mixed-dtypes
    return weights @ v


def reference(q, k, v):
    q, k, v = map(lambda each: each.to(torch.float32), [q, k, v])  #! ok
    return scan(q, k, v)
