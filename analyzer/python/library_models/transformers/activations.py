# In place of the module itself.
"""transformers 4.0 to 5.24: the usual activations, which keep the dtype of what they are handed."""
import torch.nn.functional as F

ACT2FN = {"gelu": F.gelu, "gelu_new": F.gelu, "gelu_pytorch_tanh": F.gelu, "relu": F.relu, "relu6": F.relu6, "silu": F.silu,
          "swish": F.silu, "tanh": F.tanh, "sigmoid": F.sigmoid, "mish": F.mish, "leaky_relu": F.leaky_relu}
