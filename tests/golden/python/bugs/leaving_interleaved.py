# run: attend(go(Turner(16, 32), x(2, 8, 4, 16)), x(2, 8, 4, 16))
# breaks: fp32-buffers, autocast
import torch
import torch.nn as nn


class Turner(nn.Module):
    def __init__(self, dim, length):
        super().__init__()
        angles = torch.outer(torch.arange(length).float(), 100.0 ** -torch.linspace(0, 1, dim // 2))
        self.register_buffer("sin", angles.sin().repeat_interleave(2, -1)[:, None], persistent=False)
        self.register_buffer("cos", angles.cos().repeat_interleave(2, -1)[:, None], persistent=False)

    def forward(self, x):
        n = x.shape[1]
        even, odd = x[..., ::2], x[..., 1::2]
        swapped = torch.stack((-odd, even), dim=-1).flatten(-2)
        turned = x * self.cos[:n]  # expect: rotary-dtype-mismatch
        turned = torch.addcmul(turned, swapped, self.sin[:n])
        return turned  #! bad
        return turned.type_as(x)  #! ok
