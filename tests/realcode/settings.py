"""Small sizes for what a model's constructor takes, by the names that model code has for it, and configuration objects whose
fields are such sizes."""
import dataclasses
import inspect
import re

import torch

DIM, HEADS, LENGTH, IMAGE = 64, 4, 16, 32
# The first that the whole name fits.
BY_NAME = (
    (r"(num_|n_|no_)?(attention_|attn_|query_|q_|key_value_|kv_|k_|v_|decoder_|encoder_|local_)*(heads?|groups|nhead)(_kv|_q)?|nheads|kvheads"
     r"|num_(attention|key_value|kv|query|q)_(heads|groups)|n_head_kv|n_query_groups|num_head", HEADS),
    (r"(attention_|attn_|kv_|v_|k_|q_|qk_)*head_(dim|size|channels|width)|dim_head|d_head|c_hidden|d_k|d_v|head_features|rope_n_elem"
     r"|emb_kq|emb_v|kv_channels|channels_per_head|dim_per_head|rotary_dim|rot_dim", DIM // HEADS),
    (r"(num_|n_)?(hidden_|decoder_|encoder_)?(layers?|blocks|depths?)|nlayers|n_layer|layer_(id|idx|index|number|num)|block_(idx|id)|depth", 1),
    (r"(mlp|ff|ffn|feedforward|intermediate|inner|hidden)_?(hidden_)?(dim|size|features)_?(mlp)?|d_ff|dim_feedforward|mlp_dim|ffn_size"
     r"|intermediate_size|encoder_ffn_dim|decoder_ffn_dim", 2 * DIM),
    (r"(max_|n_|num_)?(seq|sequence|context|position|positions|source|target|text|block|pos)_?(len|length|size|embeddings|positions|tokens)"
     r"|num_patches|num_tokens|n_ctx|length|max_len|max_position_embeddings|max_(sequence|seq)_len(gth)?|tokens|n_positions", LENGTH),
    (r"(image|img|input|sample|vision)_(size|resolution)|resolution|img_dim", IMAGE),
    (r"patch_size|window_size|(padded_)?vocab_size|patch|n_vocab|vocab|num_embeddings|attention_window", 8),
    (r"num_classes|n_class|num_labels|n_classes", 10),
    (r"mlp_ratio|mult|expansion(_factor|_ratio)?|ff_mult|multiple_of|expand|factor|num_(activated_)?experts(_per_tok)?|top_k|stride", 2),
    (r"(.*_)?(dropout|drop|pdrop|dropout_p|dropout_rate|drop_path|drop_prob|drop_rate|path_rate|dropout_prob)|p|rate", 0.0),
    (r"(.*_)?(eps|epsilon)", 1e-5),
    (r"scale|init_value(s)?|init_scale|layer_scale|scaling|partial_rotary_factor|rotary_pct|rotary_percentage", 1.0),
    (r"(.*_)?(theta|rope_base|base)", 10000.0),
    (r"(init|initializer).*(std|range)", 0.02),
    (r"(.*_)?(bias|causal|cross_attention|gradient_checkpointing|flash|checkpoint|parallel|compile|xpos|cache)|(use|is|has|do|tie|add|with|output"
     r"|return|learn|apply|enable|fused)_.*", False),
    (r"act_layer|activation_layer", torch.nn.GELU),
    (r"norm_layer", torch.nn.LayerNorm),
    (r"(.*_)?(act|activation|act_fn|activation_fn|hidden_act|activation_function|nonlinearity)", "gelu"),
    (r"kernel_size|conv_kernel|temporal_patch_size|frames|num_frames", 3),
    (r"(.*_)?(dim|dims|d_model|embed_dim|hidden_size|hidden_dim|channels|width|n_embd|features|embedding_dim|embed|size|dim_(in|out|model)"
     r"|in_dim|out_dim|d_x|dmodel|c_z|c_s|c_m|c_in|c_out|ch|chan|nc|model_dim|emb_dim)|d_model|n_embd|dim_.*|d_.*|in_planes|planes|nf", DIM),
)


def size_named(name):
    """None where the name says nothing."""
    return next((value for names, value in BY_NAME if re.fullmatch(names, name)), None)


class Settings:
    """A configuration: sizes by name; else what its class has by default; else None."""

    def __init__(self, kind=None):
        fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
        own = {each.name: each.default for each in fields if each.default is not dataclasses.MISSING}
        if inspect.isclass(kind) and not fields:
            own = {name: each.default for name, each in inspect.signature(kind.__init__).parameters.items()
                   if each.default is not inspect.Parameter.empty}
        object.__setattr__(self, "own", own)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        named = size_named(name)
        known = object.__getattribute__(self, "own")
        is_switch = isinstance(known.get(name), (bool, str))
        return known[name] if is_switch or named is None and name in known else named

    def get(self, name, default=None):
        value = getattr(self, name)
        return default if value is None else value

    def __getitem__(self, name):
        return getattr(self, name)

    def __contains__(self, name):
        return getattr(self, name) is not None
