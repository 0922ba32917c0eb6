"""Compares autocast's lists with the PyTorch that runs this script: which operators its dispatcher has an autocast kernel
for, per device, and, where the headers are installed, the policies that ATen/autocast_mode.h lists for CUDA.
Usage: autocast_lists.py PREDICT_DTYPES. Exits with 77 (skipped) where PyTorch cannot be imported."""
import pathlib
import re
import subprocess
import sys
import warnings

warnings.filterwarnings("ignore")
try:
    import torch
except ImportError as error:
    print(f"skipped: {sys.executable} cannot import PyTorch: {error}")
    sys.exit(77)

VERSION = ".".join(torch.__version__.split("+")[0].split(".")[:2])
KEYS = {"cuda": "AutocastCUDA", "cpu": "AutocastCPU", "xpu": "AutocastXPU", "mps": "AutocastMPS"}
# Registered without an effect, as differential_operators.py shows by running it.
WITHOUT_EFFECT = {("1.13", "cat", "cpu"): "its policy does not see into the list type that cat takes in that release"}
# Registered by the builds for CUDA only.
CUDA_BUILDS = {("_cudnn_rnn", "cuda")}
MACROS = {"AT_FORALL_LOWER_PRECISION_FP": "lower_precision", "AT_FORALL_FP32": "float32",
          "AT_FORALL_FP32_SET_OPT_DTYPE": "float32_set_dtype", "AT_FORALL_PROMOTE": "promote"}


def has_kernel(operator, key):
    try:
        return torch._C._dispatch_has_kernel_for_dispatch_key(operator, key)
    except RuntimeError:  # a schema of the scripting language, or a key that this release lacks
        return False


def registered():
    names = {s.name + ("." + s.overload_name if s.overload_name else "") for s in torch._C._jit_get_all_schemas()
             if s.name.startswith("aten::")}
    every = {name[len("aten::"):].split(".")[0] for name in names}
    listed = {device: {name[len("aten::"):].split(".")[0] for name in names if has_kernel(name, key)}
              for device, key in KEYS.items()}
    return every, listed


# Functional overloads of listed operators that have no autocast kernel: each comes to one that has, or is told apart.
OVERLOADS = {
    "dtype": "mm and its kin with out_dtype=: the rules apply no autocast to them",
    "vec": "sizes or factors given: calls the other overload",
    "padding": "conv with padding by name: comes to _convolution or convolution",
    "ScalarOpt_dtype": "norm with dtype=, which autocast leaves alone", "ScalarOpt_dim_dtype": "the same",
    "names_ScalarOpt_dim_dtype": "the same", "quantized": "takes float8 with its scales", "tensor_qparams": "quantization",
    "names": "named dimensions: calls the overload that counts them", "dimname": "the same",
    "": "_convolution on the CPU, whose older overload is listed",
}


def is_dispatched(operator):
    """Whether the dispatcher has it: overloads for Python's numbers belong to the scripting language alone."""
    try:
        torch._C._dispatch_has_kernel_for_dispatch_key(operator, "CPU")
    except RuntimeError:
        return False
    return True


def unlisted_overloads():
    """Overloads without a kernel of operators of which another overload has one, as (operator, overload, device)."""
    kernels = {}
    for schema in torch._C._jit_get_all_schemas():
        name = schema.name[len("aten::"):] if schema.name.startswith("aten::") else None
        writes = any(a.alias_info is not None and a.alias_info.is_write for a in schema.arguments)
        if name and not writes:
            full = schema.name + ("." + schema.overload_name if schema.overload_name else "")
            if not is_dispatched(full):
                continue
            for device, key in KEYS.items():
                kernels.setdefault((name, device), {})[schema.overload_name] = has_kernel(full, key)
    return {(name, overload, device) for (name, device), overloads in kernels.items() if any(overloads.values())
            for overload, has in overloads.items() if not has}


def header_policies():
    header = pathlib.Path(torch.__file__).parent / "include" / "ATen" / "autocast_mode.h"
    text = header.read_text(encoding="utf-8") if header.exists() else ""
    for macro, policy in MACROS.items():
        body = re.search(rf"#define {macro}\(_\)((?:.*\\\n)+.*)", text)
        for name in re.findall(r"_\((\w+)", body.group(1) if body else ""):
            yield name, policy


def main():
    every, listed = registered()
    questions = [(name, device) for device in KEYS for name in sorted(every)]
    lines = "".join(f"autocast {name} {device} {VERSION}\n" for name, device in questions)
    answers = subprocess.run([sys.argv[1]], input=lines, capture_output=True, text=True, check=True).stdout.split()
    policies = dict(zip(questions, answers))
    wrong = [f"{name} on {device}: PyTorch {VERSION} {'has' if name in listed[device] else 'has no'} autocast kernel, the "
             f"rules say {policy}" for (name, device), policy in policies.items()
             if (policy != "none") != (name in listed[device]) and (VERSION, name, device) not in WITHOUT_EFFECT
             and (torch.version.cuda or (name, device) not in CUDA_BUILDS)]
    unlisted = unlisted_overloads()
    wrong += [f"{name}.{overload} on {device}: an overload without autocast kernel and without a reason here"
              for name, overload, device in sorted(unlisted) if overload not in OVERLOADS or (overload == "" and name != "_convolution")]
    from_header = list(header_policies())
    wrong += [f"{name} on cuda: the header says {policy}, the rules {policies[name, 'cuda']}" for name, policy in from_header
              if policies[name, "cuda"] != policy]
    print("\n".join(wrong[:60]))
    counts = ", ".join(f"{len(names)} on {device}" for device, names in listed.items())
    print(f"PyTorch {VERSION}: {counts}; {len(from_header)} policies from its header; {len(unlisted)} overloads without a "
          f"kernel; {len(wrong)} disagreements")
    sys.exit(1 if wrong else 0)


main()
