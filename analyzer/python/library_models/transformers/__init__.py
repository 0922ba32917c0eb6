"""transformers 4.57 to 5.24: names of the package itself that have models."""
from transformers.models.auto.modeling_auto import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    AutoModelForVision2Seq,
)
