# run: generate("name", ids(1, 8), Prompts())
# breaks: fp32-buffers, bf16
# models: yes
# missed: a float32 model that a function loads and runs: only a whole program, and a setting that is asked for, is held to it
import torch
from transformers.models.auto.modeling_auto import AutoModelForCausalLM


class Prompts:
    def of(self, tokens):
        return {"input_ids": tokens}


def generate(name, tokens, prompts):
    model = AutoModelForCausalLM.from_pretrained(  # expect: attention-unsupported-dtype
        name,
        torch_dtype=torch.float32,
        attn_implementation="flash_attention_2",
    )
    model = model.to("cuda").eval()
    return model.generate(**prompts.of(tokens))  #! bad
    with torch.autocast("cuda", dtype=torch.bfloat16): return model.generate(**prompts.of(tokens))  #! ok
