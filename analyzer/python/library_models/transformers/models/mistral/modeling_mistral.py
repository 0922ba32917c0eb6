"""transformers 4.34 to 5.24: what other projects take from the Mistral model is the Llama model's."""
from ..llama.modeling_llama import LlamaRMSNorm as MistralRMSNorm
from ..llama.modeling_llama import apply_rotary_pos_emb, repeat_kv, rotate_half
