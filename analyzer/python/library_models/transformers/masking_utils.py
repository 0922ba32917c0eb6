# In place of the module itself.
"""transformers 4.53 to 5.24: masks, as the attention that is configured takes them. Of numbers only where scores are computed
by hand, in the dtype of what the model embeds."""
import torch


def create_causal_mask(config, inputs_embeds: torch.Tensor = None, attention_mask=None, *args,
                       input_embeds: torch.Tensor = None, **kwargs):
    embedded = inputs_embeds if inputs_embeds is not None else input_embeds
    if config._attn_implementation == "eager":
        return torch.zeros(embedded.shape[0], 1, 1, 1, dtype=embedded.dtype)
    if config._attn_implementation == "sdpa":
        return torch.ones(embedded.shape[0], 1, 1, 1, dtype=torch.bool)
    return None


create_bidirectional_mask = create_causal_mask
create_bidirectional_sliding_window_mask = create_causal_mask
create_chunked_causal_mask = create_causal_mask
create_sliding_window_causal_mask = create_causal_mask
