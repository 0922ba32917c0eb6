# run: [go(each(64, 4), x(2, 8, 64)) for each in (First, Last)]
# breaks: autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.gain = nn.Parameter(torch.ones(dim // heads))

    def operands(self, x):
        return list(self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2))


class First(Attention):
    def forward(self, x):
        operands = self.operands(x)
        operands[0] = operands[0] * self.gain  # expect: attention-implicit-promotion  #! bad
        operands[0] = (operands[0] * self.gain).type_as(operands[1])  #! ok
        return flash_attn_func(*operands)


class Last(Attention):
    def forward(self, x):
        operands = self.operands(x)
        operands[2] = operands[2] * self.gain  # expect: attention-implicit-promotion  #! bad
        operands[2] = (operands[2] * self.gain).type_as(operands[1])  #! ok
        return flash_attn_func(*operands)
