"""A model that generates with a static cache, made before a line of stdin lets it go on: when dtype-san joins meanwhile, model and
cache are older than the watching. The cache is float32 (`wide`) beside a bfloat16 model, or bfloat16.

    torch_older.py wide|narrow|untouched|many
"""
import sys

import torch
import torch.nn.functional as F
from torch import nn

LOW = torch.bfloat16
LINES = 1100  # more than places of first uses are kept


class Attention(nn.Module):
    def __init__(self, dtype):
        super().__init__()
        self.inputs = nn.Linear(16, 48, dtype=LOW)
        self.keys, self.values = (torch.zeros(1, 2, 4, 8, dtype=dtype) for _ in range(2))

    def forward(self, x, position):
        q, k, v = self.inputs(x).view(1, 1, 6, 8).transpose(1, 2).chunk(3, 1)
        self.keys[:, :, position:position + 1] = k  # call: used
        self.values[:, :, position:position + 1] = v
        return attend(q, self.keys[:, :, :position + 1], self.values[:, :, :position + 1])


def attend(q, k, v):
    try:
        return F.scaled_dot_product_attention(q, k, v).dtype  # call: attended
    except RuntimeError as error:
        return type(error).__name__


def many(older, low):
    """Each of these tensors is used on a line of its own; of the last one there is no room for its place."""
    exec(compile("\n".join(f"older[{i}].clone()" for i in range(LINES)), "generated.py", "exec"), {"older": older})
    first = attend(older[-1], low, low)
    return first, attend(low * torch.ones(8), low, low)  # call: widened


@torch.no_grad()
def main():
    way = sys.argv[1]
    model = Attention(torch.float32 if way == "wide" else LOW)
    older = [torch.zeros(1, 2, 4, 8) for _ in range(LINES)]
    print("ready", flush=True)
    sys.stdin.readline()
    low = torch.zeros(1, 2, 4, 8, dtype=LOW)
    if way == "untouched":
        print(attend(older[0], low, low))
    elif way == "many":
        print(*many(older, low))
    else:
        print(*(model(torch.zeros(1, 16, dtype=LOW), position) for position in range(4)))


if __name__ == "__main__":
    main()
