"""einops 0.6 to 0.8: changes shapes alone."""
import torch


class Rearrange(torch.nn.Module):
    def __init__(self, pattern, **axes_lengths):
        super().__init__()
        self.sizes = tuple(axes_lengths.values())  # not what the pattern gives: how many dimensions there are is not known

    def forward(self, input):
        return input.reshape(self.sizes or input.shape)
