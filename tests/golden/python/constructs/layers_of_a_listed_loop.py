# run: go(Model(64), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
from torch import nn
import torch.nn.functional as F


class Model(nn.Module):
    """Each round of a loop and each call of a method puts in a layer of its own, as does a store in the place of another, and all of
    them are converted."""

    def __init__(self, dim):
        super().__init__()
        self.layers, self.others = nn.ModuleList(), nn.ModuleList()
        for width, activation in [[dim, nn.ReLU()], [dim // 2, nn.Hardsigmoid()]]:
            self.layers.append(nn.Linear(dim, width * dim // width))
            self.layers.append(activation)
        self.add(nn.Linear(dim, dim))
        self.add(nn.Linear(dim, dim))
        self.others[0] = nn.Linear(dim, dim)

    def add(self, layer):
        self.others.append(layer)

    def forward(self, x: torch.Tensor):
        q = x
        for layer in self.layers:
            q = layer(q)
        for i, layer in enumerate(self.others):
            q = q + layer(q)
        q = q.unsqueeze(1)
        k = q.float()  # expect: attention-mixed-dtypes  #! bad
        k = q.clone()  #! ok
        return F.scaled_dot_product_attention(q, k, q)
