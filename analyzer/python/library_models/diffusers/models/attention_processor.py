"""diffusers 0.28 to 0.40: what processors read of the layer that they are handed."""
import torch


class Attention(torch.nn.Module):
    def __init__(self, query_dim, cross_attention_dim=None, heads=8, kv_heads=None, dim_head=64, dropout=0.0, bias=False,
                 upcast_attention=False, upcast_softmax=False, cross_attention_norm=None,
                 cross_attention_norm_num_groups=32, qk_norm=None, added_kv_proj_dim=None, added_proj_bias=True,
                 norm_num_groups=None, spatial_norm_dim=None, out_bias=True, scale_qk=True, only_cross_attention=False,
                 eps=1e-5, rescale_output_factor=1.0, residual_connection=False, _from_deprecated_attn_block=False,
                 processor=None, out_dim=None, out_context_dim=None, context_pre_only=None, pre_only=False,
                 elementwise_affine=True, is_causal=False):
        super().__init__()
        size = out_dim if out_dim is not None else dim_head * heads
        self.processor = processor
        self.heads, self.scale = heads, dim_head**-0.5 if scale_qk else 1.0
        # A norm of the caller's choice, or None: what it does with dtypes is not known.
        self.norm_q = self.norm_k = self.norm_added_q = self.norm_added_k = qk_norm
        self.to_q = torch.nn.Linear(query_dim, size, bias=bias)
        self.to_k = None if only_cross_attention else torch.nn.Linear(query_dim, size, bias=bias)
        self.to_v = None if only_cross_attention else torch.nn.Linear(query_dim, size, bias=bias)
        added = added_kv_proj_dim is not None
        self.add_q_proj = torch.nn.Linear(added_kv_proj_dim, size) if added else None
        self.add_k_proj = torch.nn.Linear(added_kv_proj_dim, size) if added else None
        self.add_v_proj = torch.nn.Linear(added_kv_proj_dim, size) if added else None
        self.to_out = None if pre_only else torch.nn.ModuleList([torch.nn.Linear(size, query_dim), torch.nn.Dropout(dropout)])
        self.to_add_out = torch.nn.Linear(size, query_dim) if context_pre_only is False else None

    def forward(self, hidden_states, encoder_hidden_states=None, attention_mask=None, **kwargs):
        return self.processor(self, hidden_states, **kwargs)

    def head_to_batch_dim(self, tensor, out_dim=3):
        return tensor.unflatten(-1, (self.heads, -1)).transpose(1, 2).flatten(0, 1)

    def batch_to_head_dim(self, tensor):
        return tensor.unflatten(0, (-1, self.heads)).transpose(1, 2).flatten(2, 3)
