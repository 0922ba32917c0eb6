# run: go(Attention(), x(2, 8, 4, 64))
# breaks: fp32-buffers, bf16, autocast
import torch
from torch import nn
from flash_attn import flash_attn_func


def converted(x, dtype):
    """A dtype is not the name of one."""
    if dtype == "float32":
        return x.float()  # expect: attention-mixed-dtypes
    if dtype != "float16":
        return x.to(dtype)
    return x.half()


class Attention(nn.Module):
    def forward(self, x: torch.Tensor):
        q = converted(x, "float32")  #! bad
        q = converted(x, x.dtype)  #! ok
        return flash_attn_func(q, x, x)
