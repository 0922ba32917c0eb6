# run: main(x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
# ruled out: autocast-bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class A(nn.Module):
    """What a training loop does with a model's parameters leaves their dtype alone."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.register_buffer("scale", torch.ones(dim // heads))

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = q * self.scale  # expect: attention-implicit-promotion  #! bad
        q = q * self.scale  #! ok
        return flash_attn_func(q, k, v)


def build():
    model = A(64, 4)
    model.eval()  #! bad
    model.to(torch.float16)  #! ok
    return model.requires_grad_(False)


def main(x):
    model = build()
    count = sum(p.numel() for p in model.parameters() if p.dim() > 0)
    optimizer = torch.optim.SGD(model.parameters(), lr=1 / count)
    for name, parameter in model.named_parameters():
        parameter.requires_grad = False
    if not model.state_dict():
        model.load_state_dict(torch.load("last.pt"))
    out = model(x.to(model.qkv.weight.dtype))  # expect: attention-unsupported-dtype
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.zero_grad()
    return out
