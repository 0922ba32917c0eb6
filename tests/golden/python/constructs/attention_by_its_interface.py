# run: go(A(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, bf16
import torch
import torch.nn as nn
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS


def by_hand(module, query, key, value, mask, **kwargs):
    weights = torch.matmul(query.to(key.dtype), key.transpose(2, 3)).softmax(-1)
    return torch.matmul(weights.to(value.dtype), value), weights


class A(nn.Module):
    def __init__(self, dim, heads, implementation="sdpa"):
        super().__init__()
        self.heads, self.qkv, self.implementation = heads, nn.Linear(dim, dim * 3), implementation
        self.register_buffer("angles", torch.ones(dim // heads), persistent=False)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).movedim(2, 0).transpose(2, 3).unbind(0)
        q = q * self.angles.float()  # expect: attention-implicit-promotion  #! bad
        q = q * self.angles.to(q.dtype)  #! ok
        attention = ALL_ATTENTION_FUNCTIONS.get_interface(self.implementation, by_hand)
        return attention(self, q, k, v, None)
