# run: go(Attention(64, heads=4, dim_head=16, processor=Processor()), x(2, 8, 64))
# breaks: autocast
# models: yes
import torch
import torch.nn.functional as F
from diffusers.models.attention_processor import Attention
from flash_attn import flash_attn_func


class Processor:
    def __call__(self, attn: Attention, hidden_states: torch.Tensor):
        q, k, v = (layer(hidden_states).unflatten(-1, (attn.heads, -1)) for layer in (attn.to_q, attn.to_k, attn.to_v))
        if attn.norm_q is not None:
            q, k = attn.norm_q(q), attn.norm_k(k)
        q = F.normalize(q, dim=-1)  # expect: autocast-fp32-operator  #! bad
        q = F.normalize(q, dim=-1).to(v.dtype)  #! ok
        return attn.to_out[0](flash_attn_func(q, k, v).flatten(2))
