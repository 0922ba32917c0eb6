"""flash-attn 2.0 to 2.8: tables are computed in float32 and cast to the dtype of what is rotated, which keeps its dtype."""
import torch


class RotaryEmbedding(torch.nn.Module):
    def __init__(self, dim, base=10000.0, interleaved=False, scale_base=None, pos_idx_in_fp32=True, device=None):
        super().__init__()
        self.dim, self.base, self.interleaved, self.scale_base = dim, base, interleaved, scale_base
        self.register_buffer("inv_freq", self._compute_inv_freq(device), persistent=False)
        scale = torch.arange(0, dim, 2, dtype=torch.float32) / dim if scale_base is not None else None
        self.register_buffer("scale", scale, persistent=False)
        self._seq_len_cached = 0
        self._cos_cached = self._sin_cached = self._cos_k_cached = self._sin_k_cached = None

    def _compute_inv_freq(self, device=None):
        return self.base ** (torch.arange(0, self.dim, 2, dtype=torch.float32) / -self.dim)

    def _update_cos_sin_cache(self, seqlen, device=None, dtype=None):
        angles = torch.outer(torch.arange(seqlen, dtype=torch.float32), self._compute_inv_freq(device))
        self._cos_cached, self._sin_cached = torch.cos(angles).to(dtype), torch.sin(angles).to(dtype)
        self._cos_k_cached, self._sin_k_cached = torch.cos(angles).to(dtype), torch.sin(angles).to(dtype)

    def forward(self, qkv, kv=None, seqlen_offset=0, max_seqlen=None, num_heads_q=None):
        if kv is None:
            return qkv
        return qkv, kv
