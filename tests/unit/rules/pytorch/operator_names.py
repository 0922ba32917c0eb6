"""Checks the names of the operator table against PyTorch's own namespaces: every entry is a name that PyTorch has, in
Python or in C++; each of an operator's spellings (torch., Tensor., torch.nn.functional., torch::, at::, aten::, a Python
operator's method) finds the same entry; and no operator of the dispatcher that takes and returns tensors is missing
without a reason. Usage: operator_names.py PREDICT_DTYPES. Exits with 77 (skipped) where PyTorch cannot be imported."""
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
import torch.utils.dlpack

# Python prefix, C++ prefixes, where the names live, and what the table puts before such a name.
SPACES = (("torch.", ("torch::", "at::"), torch, ""), ("torch.Tensor.", ("at::Tensor::", "torch::Tensor::"), torch.Tensor, ""),
          ("torch.nn.functional.", ("torch::nn::functional::",), torch.nn.functional, ""),
          ("torch.special.", ("torch::special::",), torch.special, "special_"),
          ("torch.linalg.", ("torch::linalg::",), torch.linalg, "linalg_"), ("torch.fft.", ("torch::fft::",), torch.fft, "fft_"))
# What Python writes as an operator, and the entry that it is.
DUNDERS = {"__add__": "add", "__radd__": "add", "__iadd__": "add_", "__sub__": "sub", "__rsub__": "rsub", "__isub__": "sub_", "__mul__": "mul",
           "__rmul__": "mul", "__imul__": "mul_", "__truediv__": "div", "__div__": "div", "__idiv__": "div_", "__rdiv__": "__rtruediv__", "__rtruediv__": "__rtruediv__", "__itruediv__": "div_",
           "__floordiv__": "floor_divide", "__rfloordiv__": "floor_divide", "__ifloordiv__": "floor_divide_", "__mod__": "remainder",
           "__rmod__": "remainder", "__imod__": "remainder_", "__pow__": "pow", "__rpow__": "pow", "__ipow__": "pow_",
           "__matmul__": "matmul", "__rmatmul__": "matmul", "__and__": "bitwise_and", "__rand__": "bitwise_and", "__iand__": "bitwise_and_",
           "__or__": "bitwise_or", "__ror__": "bitwise_or", "__ior__": "bitwise_or_", "__xor__": "bitwise_xor", "__rxor__": "bitwise_xor",
           "__ixor__": "bitwise_xor_", "__lshift__": "bitwise_left_shift", "__rshift__": "bitwise_right_shift",
           "__ilshift__": "bitwise_left_shift_", "__irshift__": "bitwise_right_shift_", "__rlshift__": "bitwise_left_shift", "__rrshift__": "bitwise_right_shift", "__dlpack__": "__dlpack__", "__neg__": "neg", "__pos__": "positive",
           "__invert__": "bitwise_not", "__abs__": "abs", "__eq__": "eq", "__ne__": "ne", "__lt__": "lt", "__le__": "le", "__gt__": "gt",
           "__ge__": "ge", "__getitem__": "index", "__setitem__": "index_put_"}
# Families of the dispatcher that cannot stand between a model's input and an attention call, or whose results a dtype rule
# cannot describe. Reviewed.
OUTSIDE = (
    (r"^_foreach_|^_fused_(adam|sgd|ada)|^_amp_", "whole lists of tensors at once: optimizers and gradient scalers"),
    (r"^_(?!foreach_|fused_(adam|sgd|ada)|amp_|softmax|log_softmax|convolution$|fused_rms_norm|safe_softmax)", "internal: reached only through an entry"),
    (r"backward|_jvp|grad(s|ient)?$|get_gradients|accumulate", "the way back"),
    (r"sparse|coalesce|^(col|row|crow|ccol)_indices|^(row_)?indices|values|hspmm|sspaddmm|^smm$", "sparse layouts"),
    (r"quantized?(_|$)|^quantize_|int_repr|q_per|qparams|fake_quant|fbgemm|observer|obs_fake", "quantization: integers in, or out"),
    (r"^to_mkldnn$|^(mkldnn|cudnn|miopen|mps|xnnpack|nnpack)_|slow_conv|thnn_|conv_depthwise3d|overrideable", "a backend's own kernels"),
    (r"^sym_|^(dict|items|keys|popitem|sorted|set|get|list|append)$|flatten_dense|^as_tensor$|from_file|resize$|resize_as$", "no operator on values"),
    (r"ldl|geqrf|orgqr|ormqr|lu_unpack|lu_solve|triangular_solve|_powsum|solve_ex|lu_factor_ex|linalg__", "factorizations whose result no model passes on"),
    (r"histogram|nonzero_|segment_reduce|embedding_renorm|ctc_loss|hash_tensor|copy_sparse", "counts, labels, bookkeeping"),
    (r"_forward$|^batch_norm_|nll_loss|_loss$|loss_nd|_with_noise|normal_functional|binomial", "losses and the parts that training alone calls"),
    (r"^polygamma_$|max_pool3d_with|max_pool1d_with|_inverse$", "parts of entries: their indices, their inverse, in place with a number first"),
    (r"^(frobenius_norm|native_norm|lift|rrelu|randn_like|renorm|sum_to_size)$|_copy$|detach_copy", "other spellings of entries"),
)


# Names of Python's namespaces that no entry has. Reviewed, as OUTSIDE, which holds for them too.
NOT_OPERATORS = (
    (r"^(is_|are_|can_|has_|get_|set_|use_|enable_|assert_|q_)|^_|qscheme|autocast|anomaly|deterministic|cxx11|^init|handle_torch", "asks or sets a state"),
    (r"^(numel|nelement|dim|ndimension|size|stride|element_size|dim_order|dense_dim|sparse_dim|storage_\w+|untyped_storage|"
     r"broadcast_shapes|result_type|promote_types|unravel_index|seed|initial_seed|manual_seed|typename|nonzero_static)$", "no tensor comes out, or indices"),
    (r"^(item|tolist|numpy|share_memory_|apply_|map2?_|module_load|as_subclass|new|record_stream|register_\w+|reinforce|retain_grad|ipu|mtia)$",
     "a Python object, a hook, another device; `new` is a factory that PyTorch has deprecated"),
    (r"^(compile|cond|vmap|wait|fork|load|save|while_loop|classproperty|Optional|boolean_dispatch|merge_type_\w+|parse_\w+|import_ir_\w+|"
     r"prepare_multi\w+|profiler_\w+|thread_safe_generator|unify_type_list|choose_qparams\w*)$", "machinery of Python"),
    (r"^(eig|symeig|lstsq|solve|matrix_rank|lu|lobpcg|svd_lowrank|pca_lowrank|ldl_\w+|dsmm|saddmm|spmm|hsmm)$", "removed from PyTorch, or factorizations whose result no model passes on"),
    (r"^(scaled_|grouped_|linear_cross|triplet_margin_with_distance)", "takes scales or a function that decide the dtype"),
    (r"^(max_pool1d_with_indices|native_norm|empty_quantized|miopen_\w+|cudnn_\w+|mkldnn_\w+|from_file)$", "a backend's own, or a file"),
)


class Table:
    def __init__(self, program):
        self.program = program

    def answers(self, questions):
        run = subprocess.run([self.program], input="\n".join(questions) + "\n", capture_output=True, text=True, check=True)
        return run.stdout.splitlines()

    def entries(self, spellings):
        return dict(zip(spellings, self.answers([f"entry {each}" for each in spellings])))


def cpp_names():
    """Every identifier of PyTorch's own headers for tensors and functional modules."""
    include = pathlib.Path(torch.__file__).parent / "include"
    folders = (include / "ATen" / "core", include / "ATen", include / "torch/csrc/api/include/torch/nn",
               include / "torch/csrc/api/include/torch/nn/functional", include / "torch/csrc/api/include/torch/nn/options")
    text = "".join(p.read_text(encoding="utf-8", errors="replace") for folder in folders for p in folder.glob("*.h"))
    return set(re.findall(r"\w+", text))


def python_names():
    for prefix, _, place, before in SPACES:
        for name in dir(place):
            yield prefix, name, before


def unknown_entries(table):
    python = {before + name for _, name, before in python_names()} | {name for _, name, _ in python_names()}
    aten = {s.name[len("aten::"):] for s in torch._C._jit_get_all_schemas() if s.name.startswith("aten::")}
    known = python | aten | set(dir(torch.nn.init)) | set(dir(torch.nn.Transformer)) | set(dir(torch.utils.dlpack)) | cpp_names()
    for name in table.answers(["names"])[0].split() + table.answers(["aliases"])[0].split():
        short = name.split("::")[-1].split(".")[0]  # "max.1" is a result of max, "div.rounded" a form of div
        plain = short[:-4] if short.endswith("_out") else short
        if plain in known or short.startswith(("operator", "unary")) or plain == "-":
            continue
        if plain.replace("special_", "").replace("linalg_", "") not in known:
            yield f"{name}: in the table, and PyTorch {torch.__version__} has no such name"


def spelled_alike(table):
    """Each C++ and Python spelling of one name finds one entry."""
    groups = []
    for prefix, cpp, place, before in SPACES:
        for name in dir(place):
            if not name.startswith("__") and callable(getattr(place, name, None)):
                groups.append([prefix + name] + [each + name for each in cpp])
    found = table.entries([spelling for group in groups for spelling in group])
    for group in groups:
        if len({found[each] for each in group}) > 1:
            yield " ".join(f"{each}={found[each]}" for each in group) + ": one operator, several entries"
    methods = {name for name in dir(torch.Tensor) if not name.startswith("_")} & set(dir(torch))
    found = table.entries([prefix + name for name in methods for prefix in ("torch.", "torch.Tensor.", "aten::")])
    for name in sorted(methods):
        if len({found[prefix + name] for prefix in ("torch.", "torch.Tensor.")}) > 1:
            yield f"{name}: the function and the method find different entries"


def nowhere(table):
    """Names of Python's namespaces that find no entry, without a reason."""
    used = set()
    for prefix, _, place, _ in SPACES:
        names = [name for name in dir(place) if not name.startswith("_") and callable(getattr(place, name, None))
                 and not isinstance(getattr(place, name), type)]
        found = table.entries([prefix + name for name in names])
        for name in names:
            reasons = [pattern for pattern, _ in OUTSIDE + NOT_OPERATORS if re.search(pattern, name)]
            if found[prefix + name] == "-":
                used.update(reasons)
                if not reasons:
                    yield f"{prefix}{name}: no entry and no reason"
    yield from (f"NOT_OPERATORS: {pattern} excuses nothing" for pattern, _ in NOT_OPERATORS if pattern not in used)


# Methods of tensors that Python's own protocols call; none computes.
PROTOCOLS = set("array array_wrap bool class complex contains deepcopy delitem dir dlpack_device float format hash index init_subclass int iter "
                "len long new nonzero reduce_ex repr reversed setstate subclasshook torch_dispatch torch_function".split())


def python_operators(table):
    for name in dir(torch.Tensor):
        if name.startswith("__") and getattr(object, name, None) is not getattr(torch.Tensor, name) and callable(getattr(torch.Tensor, name)):
            if name not in DUNDERS and name.strip("_") not in PROTOCOLS:
                yield f"{name}: an operator of Python that the test does not know"
    found = table.entries(list(DUNDERS))
    for name, entry in DUNDERS.items():
        if not hasattr(torch.Tensor, name):
            yield f"{name}: PyTorch's tensors have no such method"
        elif found[name] != entry:
            yield f"{name}: finds {found[name]}, expected {entry}"


def gaps(table):
    """Operators of the dispatcher from tensors to tensors that the table lacks."""
    names = sorted({s.name[len("aten::"):] for s in torch._C._jit_get_all_schemas() if s.name.startswith("aten::")
                    and any("Tensor" in str(r.type) for r in s.returns) and any("Tensor" in str(a.type) for a in s.arguments)})
    found = table.entries(["aten::" + name for name in names])
    used = set()
    for name in names:
        reasons = [pattern for pattern, _ in OUTSIDE if re.search(pattern, name)]
        if found["aten::" + name] == "-":
            used.update(reasons)
            if not reasons:
                yield f"aten::{name}: no entry and no reason"
    yield from (f"OUTSIDE: {pattern} excuses nothing" for pattern, _ in OUTSIDE if pattern not in used)


def main():
    table = Table(sys.argv[1])
    checks = {check.__name__: list(check(table)) for check in (unknown_entries, spelled_alike, nowhere, python_operators, gaps)}
    for wrong in checks.values():
        print("\n".join(wrong[:80]))
    print(", ".join(f"{name}: {len(wrong)} wrong" for name, wrong in checks.items()))
    sys.exit(1 if any(checks.values()) else 0)


main()
