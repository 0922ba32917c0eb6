# In place of the module itself.
"""transformers 4.54 to 5.24: caches of keys and values. What an empty one gives, which every first call meets, is what it is
handed. What a layer holds is of the dtype of what came first: of what a caller hands in."""
import torch


class CacheLayer:
    def __init__(self, keys: torch.Tensor = None, values: torch.Tensor = None):
        self.keys, self.values = keys, values


class HalfOfCache:
    def __init__(self, keys: torch.Tensor = None, values: torch.Tensor = None):
        self.layers = [CacheLayer(keys, values)]

    def update(self, key_states, value_states, layer_idx, *args, **kwargs):
        return key_states, value_states


class Cache:
    """What is annotated with it may be an EncoderDecoderCache, which has two."""

    def __init__(self, keys: torch.Tensor = None, values: torch.Tensor = None):
        self.layers = [CacheLayer(keys, values)]
        self.self_attention_cache = HalfOfCache(keys, values)
        self.cross_attention_cache = HalfOfCache(keys, values)

    def update(self, key_states, value_states, layer_idx, *args, **kwargs):
        return key_states, value_states


class DynamicCache(Cache):
    pass


class StaticCache(Cache):
    pass


class EncoderDecoderCache(Cache):
    pass
