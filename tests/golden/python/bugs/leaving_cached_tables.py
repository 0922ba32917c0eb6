# run: attend(go(RotaryEmbedding(16), x(2, 8, 4, 16), x(2, 8, 4, 16))[0], x(2, 8, 4, 16))
# breaks: fp32-buffers
import torch


def turn_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def turn(x, cos, sin):
    cos, sin = cos.to(x.dtype), sin.to(x.dtype)  #! ok
    return (x * cos) + (turn_half(x) * sin)  # expect: rotary-dtype-mismatch


class RotaryEmbedding(torch.nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / (10000 ** (torch.arange(0, dim, 2).float() / dim)))
        self.length = None
        self.cos = None
        self.sin = None

    def tables(self, x):
        length = x.shape[1]
        if length != self.length:
            self.length = length
            t = torch.arange(length, device=x.device).type_as(self.inv_freq)
            angles = torch.einsum("i,j->ij", t, self.inv_freq)
            angles = torch.cat((angles, angles), dim=-1)
            self.cos = angles.cos()[:, None, :]
            self.sin = angles.sin()[:, None, :]
        return self.cos, self.sin

    def forward(self, q: torch.Tensor, k: torch.Tensor):
        cos, sin = self.tables(k)
        return turn(q, cos, sin), turn(k, cos, sin)
