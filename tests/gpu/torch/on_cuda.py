"""Runs a program that names no device with its tensors on a CUDA device: `on_cuda.py PROGRAM [ARGUMENT...]`.

Factories make CUDA tensors by PyTorch's default tensor type, which is set below Python: the program's frames are as they
are without. Autocast that it asks for on the CPU is CUDA's. DEVICE=cpu leaves all as it is. Operators that have a
deterministic kernel take it, so that two runs can be compared to the last bit.
"""
import os
import runpy
import sys
import warnings

import torch


def on_cuda(generator):
    """A type, for which inductor asks."""
    class Generator(generator):
        def __new__(cls, device="cuda"):
            return generator.__new__(generator, device)
    return Generator


def prepare():
    if os.environ.get("DEVICE", "cuda") != "cuda":
        return
    warnings.simplefilter("ignore")
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.set_default_tensor_type(torch.cuda.FloatTensor)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.Generator = on_cuda(torch.Generator)
    given = torch.autocast
    torch.autocast = lambda device, *rest, **words: given("cuda" if device == "cpu" else device, *rest, **words)


if __name__ == "__main__":
    prepare()
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")
