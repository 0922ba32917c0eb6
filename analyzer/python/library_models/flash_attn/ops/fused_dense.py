"""flash-attn 2.0 to 2.8: a linear layer, which autocast casts for like nn.Linear."""
import torch


class FusedDense(torch.nn.Linear):
    pass
