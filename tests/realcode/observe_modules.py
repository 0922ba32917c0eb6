"""What arrives at the attention of a Python file's modules when they run: each class of the file is made with sizes by its
parameters' names and called with tensors of the shapes that models take, on fake CUDA tensors, with half parameters and
inputs and float32 buffers. Libraries that are not installed are stood in for by things that have any attribute.

    observe_modules.py ROOT FILE <REQUEST   JSON: {"variants": {NAME: SOURCE}}; answers {NAME: {CLASS: CALLS or null}}

CALLS are [line, function, dtypes, "refused" where PyTorch raises there]; null where the class did not run.
"""
import contextlib
import importlib.abc
import importlib.machinery
import inspect
import io
import itertools
import json
import pathlib
import re
import sys
import types

import torch
from torch.overrides import TorchFunctionMode

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "golden" / "python"))
import fake_cuda  # noqa: E402

ATTENTION = ("scaled_dot_product_attention", "matmul", "__matmul__", "bmm", "baddbmm", "einsum")
DIM, HEADS, LENGTH, IMAGE = 64, 4, 16, 32
SIZES = {
    ("dim", "d_model", "embed_dim", "hidden_size", "hidden_dim", "in_dim", "query_dim", "channels", "width", "n_embd", "feature_dim",
     "model_dim", "emb_dim", "dim_in", "dim_out", "out_dim", "in_features", "in_channels", "context_dim", "embedding_dim", "c_z", "c_s",
     "c_m", "input_dim", "output_dim", "inner_dim", "dim_model"): DIM,
    ("heads", "num_heads", "n_heads", "n_head", "nhead", "num_attention_heads", "no_heads", "num_head", "attention_heads"): HEADS,
    ("dim_head", "head_dim", "d_head", "c_hidden", "attention_head_dim", "d_k", "d_v"): DIM // HEADS,
    ("depth", "num_layers", "n_layers", "layers", "layer_id", "layer_idx", "num_blocks", "n_layer"): 1,
    ("mlp_dim", "ff_dim", "intermediate_size", "d_ff", "dim_feedforward", "ffn_dim"): 2 * DIM,
    ("seq_len", "num_patches", "max_seq_len", "num_tokens", "n_ctx", "context_length", "length", "block_size", "max_len"): LENGTH,
    ("image_size", "img_size", "resolution", "input_resolution"): IMAGE,
    ("patch_size", "window_size", "vocab_size", "patch"): 8,
    ("num_classes", "n_class"): 10,
    ("mlp_ratio", "mult"): 2,
    ("dropout", "drop", "attn_dropout", "p", "drop_path", "attn_drop", "proj_drop", "rate", "dropout_rate", "drop_path_rate"): 0.0,
    ("bias", "causal", "qkv_bias", "use_bias"): False,
    ("eps", "scale", "init_value"): 1.0,
    ("act_layer", "activation"): torch.nn.GELU,
    ("norm_layer",): torch.nn.LayerNorm,
}
BY_NAME = {name: value for names, value in SIZES.items() for name in names}
MASKS = ("mask", "attn_mask", "attention_mask", "key_padding_mask", "context", "rel_pos_bias", "pos", "is_causal")


class Anything(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(name, (), {})

    def __call__(cls, *args, **kwargs):
        return args[0] if len(args) == 1 and not kwargs and callable(args[0]) else object.__new__(cls)


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Of what the project's files import and nothing provides: what PyTorch looks for itself is not there."""

    def __init__(self, root):
        text = "\n".join(each.read_text(encoding="utf-8", errors="replace") for each in root.rglob("*.py"))
        self.names = set(re.findall(r"^[ \t]*(?:from|import)[ \t]+(\w+)", text, re.M))

    def find_spec(self, name, path=None, target=None):
        known = name.partition(".")[0] in self.names
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if known else None

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__path__ = []
        module.__getattr__ = lambda name: getattr(Anything(spec.name, (), {}), name)
        return module

    def exec_module(self, module):
        pass


class Watch(TorchFunctionMode):
    def __init__(self, path):
        super().__init__()
        self.path, self.calls = str(path), []

    def line(self):
        frame = sys._getframe(2)
        while frame and frame.f_code.co_filename != self.path:
            frame = frame.f_back
        return frame.f_lineno if frame else 0

    def __torch_function__(self, function, kinds, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        if name not in ATTENTION:
            return function(*args, **(kwargs or {}))
        flat = [each for one in args for each in (one if isinstance(one, (list, tuple)) else [one])]
        dtypes = [str(each.dtype) for each in [*flat, *(kwargs or {}).values()] if isinstance(each, torch.Tensor)]
        call = [self.line(), name.strip("_"), dtypes, ""]
        self.calls.append(call)
        try:
            return function(*args, **(kwargs or {}))
        except RuntimeError as error:
            call[3] = "refused" if any(word in str(error) for word in ("dtype", "scalar type", "same type")) else ""
            raise


def sizes_for(function):
    """Arguments without defaults; None where one has a name that says nothing."""
    out = {}
    for name, each in itertools.islice(inspect.signature(function).parameters.items(), 1, None):
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD) or each.default is not each.empty:
            continue
        if name not in BY_NAME:
            return None
        out[name] = BY_NAME[name]
    return out


def inputs_for(forward):
    """Lists of arguments to try."""
    half = torch.bfloat16
    shapes = [(2, LENGTH, DIM), (2, 3, IMAGE, IMAGE), (2, DIM, 8, 8), (2, 4, LENGTH, DIM), (2, HEADS, LENGTH, DIM // HEADS), (2, 8, 8, DIM)]
    needed = [name for name, each in itertools.islice(inspect.signature(forward).parameters.items(), 1, None)
              if each.default is each.empty and each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    for shape in shapes:
        yield lambda: {name: None if name in MASKS else torch.empty(shape, dtype=half) for name in needed}
    yield lambda: {name: torch.zeros(2, LENGTH, dtype=torch.int64) for name in needed}


def calls_of(kind, path):
    """The calls of the first input that comes to the end, or to a refusal at one of them."""
    sizes = sizes_for(kind.__init__)
    if sizes is None:
        return None
    for inputs in inputs_for(kind.forward):
        watch = Watch(path)
        try:
            with fake_cuda.fake_cuda():
                module = fake_cuda.move(kind(**sizes).eval(), torch.bfloat16, torch.float32)
                arguments = inputs()
                with watch:
                    module(**arguments)
        except Exception:
            if not (watch.calls and watch.calls[-1][3]):
                continue
        if watch.calls:
            return watch.calls
    return None


def variant(name, source, path, package):
    module = types.ModuleType(name)
    module.__file__, module.__package__ = str(path), package
    sys.modules[name] = module
    exec(compile(source, str(path), "exec"), vars(module))
    kinds = [each for each in vars(module).values() if inspect.isclass(each) and each.__module__ == name
             and issubclass(each, torch.nn.Module) and "forward" in vars(each)]
    return {kind.__name__: calls_of(kind, path) for kind in kinds}


def main():
    root, path = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    top = path.parent
    while (top / "__init__.py").exists():
        top = top.parent
    sys.path[:0] = [str(root), str(top)]
    with fake_cuda.fake_cuda():  # what PyTorch loads when it is first used
        torch.einsum("ij,jk->ik", torch.ones(2, 2), torch.ones(2, 2))
    sys.meta_path.append(StandIns(top))
    name = ".".join(path.relative_to(top).with_suffix("").parts)
    out = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for which, source in json.load(sys.stdin)["variants"].items():
            try:
                out[which] = variant(name, source, path, name.rpartition(".")[0])
            except Exception as error:
                out[which] = {"": f"{type(error).__name__}: {error}"}
    json.dump(out, sys.stdout)


main()
