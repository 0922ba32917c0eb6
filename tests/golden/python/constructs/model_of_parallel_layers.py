# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers
# models: yes
import torch
import torch.nn as nn
from fairscale.nn.model_parallel.layers import ColumnParallelLinear, RowParallelLinear
from flash_attn import flash_attn_func
from transformers.models.qwen2.modeling_qwen2 import apply_rotary_pos_emb


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.wq, self.wk, self.wv = (ColumnParallelLinear(dim, dim, bias=False, gather_output=False) for _ in range(3))
        self.wo = RowParallelLinear(dim, dim, bias=False, input_is_parallel=True)
        self.register_buffer("cos", torch.ones(8, 1, dim // heads), persistent=False)

    def forward(self, x):
        q, k, v = (layer(x).unflatten(-1, (self.heads, -1)) for layer in (self.wq, self.wk, self.wv))
        cos = self.cos  #! bad
        cos = self.cos.to(q.dtype)  #! ok
        q, k = apply_rotary_pos_emb(q, k, cos, cos)  # expect: attention-implicit-promotion  #! bad
        q, k = apply_rotary_pos_emb(q, k, cos, cos)  #! ok
        return self.wo(flash_attn_func(q, k, v).flatten(2))
