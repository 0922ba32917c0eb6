# run: go(A(64, 4), x(2, 8, 64), ids(2, 8))
# breaks: autocast
# models: yes
import torch
import torch.nn as nn
from flash_attn import flash_attn_varlen_func
from flash_attn.bert_padding import index_first_axis, pad_input, unpad_input


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.norm = nn.LayerNorm(dim // heads)

    def forward(self, x, mask):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = self.norm(q)  # expect: autocast-fp32-operator  #! bad
        q = self.norm(q).to(v.dtype)  #! ok
        q, indices, lengths, longest, _ = unpad_input(q, mask)
        k = index_first_axis(k.flatten(0, 1), indices)
        v = index_first_axis(v.flatten(0, 1), indices)
        out = flash_attn_varlen_func(q, k, v, lengths, lengths, longest, longest)
        return pad_input(out, indices, x.shape[0], x.shape[1])
