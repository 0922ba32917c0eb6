# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
import torch
from torch import nn
from transformers.modeling_flash_attention_utils import _flash_attention_forward


class Attention(nn.Module):
    """The call itself casts all that it takes, where q is float32 and a dtype is given."""

    def __init__(self, dim, heads, wide: bool = True):
        super().__init__()
        self.heads, self.wide, self.qkv = heads, wide, nn.Linear(dim, dim * 3)

    def forward(self, x: torch.Tensor):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        if self.wide:
            q = q.float()
            k = k.float()  # expect: attention-mixed-dtypes
        if q.dtype == torch.float32:
            target = self.qkv.weight.dtype
        else:
            target = None
        return _flash_attention_forward(q, k, v, None, x.shape[1], target_dtype=None)  #! bad
        return _flash_attention_forward(q, k, v, None, x.shape[1], target_dtype=target)  #! ok
