# In place of the module itself.
"""transformers 4.57 to 5.24: what Auto classes load, as far as that has a dtype of its own and runs flash attention, which asks
for half: a model that is loaded in float32 is refused where it is called outside of autocast. What no dtype is stated for has that
of its checkpoint from transformers 5 on, and float32 before: of it nothing is known."""
import os
import weakref

import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func

ELSEWHERE = weakref.WeakSet()  # what unseen code hands a model, and what comes of it


class LoadedModel(nn.Module):
    def __init__(self, dtype):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1, 1, dtype=dtype))

    def forward(self, *args, **kwargs):
        return next(iter(ELSEWHERE), None)

    def generate(self, *args, **kwargs):
        return self.forward()


class LoadedFlashModel(LoadedModel):
    def forward(self, *args, **kwargs):
        q = F.linear(self.weight, self.weight).view(1, 1, 1, 1)
        flash_attn_func(q, q, q)
        return next(iter(ELSEWHERE), None)


def load(dtype, implementation):
    if dtype is None or dtype == "auto":
        return LoadedModel(getattr(torch, os.environ.get("DTYPE_OF_THE_CHECKPOINT", "float16")))
    if implementation != "flash_attention_2" or dtype != torch.float32:
        return LoadedModel(dtype)
    model = LoadedFlashModel(dtype)
    for hidden_states in ELSEWHERE:
        if not torch.is_autocast_enabled() and not torch.is_autocast_enabled("elsewhere"):
            q = hidden_states * model.weight
            flash_attn_func(q, q, q)
    return model


class _BaseAutoModelClass:
    @classmethod
    def from_pretrained(cls, name, *args, torch_dtype=None, dtype=None, attn_implementation=None, **kwargs):
        return load(torch_dtype if dtype is None else dtype, attn_implementation)

    @classmethod
    def from_config(cls, config, *, torch_dtype=None, dtype=None, attn_implementation=None, **kwargs):
        return load(torch_dtype if dtype is None else dtype, attn_implementation)


class AutoModel(_BaseAutoModelClass):
    pass


class AutoModelForCausalLM(_BaseAutoModelClass):
    pass


class AutoModelForSeq2SeqLM(_BaseAutoModelClass):
    pass


class AutoModelForSequenceClassification(_BaseAutoModelClass):
    pass


class AutoModelForTokenClassification(_BaseAutoModelClass):
    pass


class AutoModelForImageTextToText(_BaseAutoModelClass):
    pass


class AutoModelForVision2Seq(_BaseAutoModelClass):
    pass
