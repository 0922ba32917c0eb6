"""Wrong calls in two classes, nested functions, a comprehension and a lambda, for a static report beside a run of some.
Usage: torch_join.py CLASS..."""
import sys

import torch
import torch.nn.functional as F
from torch import nn

LOW = torch.bfloat16


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(16, 16, dtype=LOW)

    def queries(self, x):
        return self.proj(x).view(1, 8, 1, 16).transpose(1, 2)


class First(Block):
    def forward(self, x):
        q = self.queries(x)
        return F.scaled_dot_product_attention(q * torch.ones(16), q, q)  # call: First.forward


class Second(Block):
    def forward(self, x):
        q = self.queries(x)
        return F.scaled_dot_product_attention(q * torch.ones(16), q, q)  # call: Second.forward


class Nested(Block):
    def forward(self, x):
        q = self.queries(x)

        def attend(one):
            return F.scaled_dot_product_attention(one * torch.ones(16), q, q)  # call: Nested.forward.<locals>.attend
        return attend(q)


class Each(Block):
    def forward(self, x):
        q = self.queries(x)
        return [F.scaled_dot_product_attention(q * torch.ones(16), q, q) for _ in range(2)]  # call: Each.forward


class Later(Block):
    def forward(self, x):
        q = self.queries(x)
        call = lambda one: F.scaled_dot_product_attention(one * torch.ones(16), q, q)  # call: Later.forward.<locals>.<lambda>
        return call(q)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        try:
            globals()[name]()(torch.randn(8, 16, dtype=LOW))
        except RuntimeError as error:
            print(name, type(error).__name__)
