"""transformers 4.37 to 5.24: what other projects take from the Qwen2 model is the Llama model's."""
from ..llama.modeling_llama import LlamaRMSNorm as Qwen2RMSNorm
from ..llama.modeling_llama import apply_rotary_pos_emb, repeat_kv, rotate_half
