# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: autocast
# packages: site-packages
import torch.nn.functional as F
from attention_layers.base import SelfAttention


class Attention(SelfAttention):
    def prepare(self, q, k):
        q = F.normalize(q, dim=-1)  # expect: autocast-fp32-operator  #! bad
        q = F.normalize(q, dim=-1).to(k.dtype)  #! ok
        return q, k
