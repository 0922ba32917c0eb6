# run: go(A(64, 4), x(2, 8, 64), ids(2, 8))
# breaks: autocast, fp32-buffers, bf16
# fixed: no
import torch
import torch.nn as nn
from flash_attn import flash_attn_varlen_func


def _offsets(position_ids):
    position_ids = position_ids.view(-1)
    starts = (position_ids == 0).nonzero().view(-1)  # expect: attention-unsupported-dtype  #! bad
    starts = (position_ids == 0).nonzero().view(-1).to(torch.int32)  #! ok
    total = torch.tensor(position_ids.size(), dtype=torch.int32, device=position_ids.device)
    return torch.cat((starts, total))


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x, position_ids: torch.LongTensor):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).flatten(0, 1).unbind(1)
        offsets = _offsets(position_ids)
        return flash_attn_varlen_func(q, k, v, offsets, offsets, x.shape[1], x.shape[1])
