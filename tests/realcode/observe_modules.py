"""What arrives at the attention of a Python file's modules when they run: each class of the file is made with sizes by its
parameters' names and called with tensors of the shapes that models take, on fake CUDA tensors, with half parameters and
inputs and float32 buffers. Libraries that are not installed are stood in for by things that have any attribute, and
configurations by objects whose fields are small sizes by their names (settings.py).

    observe_modules.py ROOT FILE <REQUEST   JSON: {"variants": {NAME: SOURCE}}; answers {NAME: {CLASS: CALLS or null}}

CALLS are [line, function, dtypes, "refused" where PyTorch raises there]; null where the class did not run.
"""
import contextlib
import importlib.abc
import importlib.machinery
import importlib.metadata
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
from plant_python import top_of  # noqa: E402
from settings import DIM, HEADS, IMAGE, LENGTH, Settings, size_named  # noqa: E402

ATTENTION = ("scaled_dot_product_attention", "matmul", "__matmul__", "bmm", "baddbmm", "einsum")
CONFIGURATIONS = ("config", "cfg", "args", "conf", "model_args", "params", "options", "hparams")
MASKS = ("mask", "attn_mask", "attention_mask", "key_padding_mask", "context", "rel_pos_bias", "pos", "is_causal")


def first_callable(args, kwargs):
    """As a decorator gives it back."""
    return args[0] if len(args) == 1 and not kwargs and callable(args[0]) else None


class Anything(type):
    def __getattr__(cls, name):
        if name == "__version__":
            return "99.0"
        if name.startswith("__"):
            raise AttributeError(name)
        return anything(name)

    def __call__(cls, *args, **kwargs):
        return first_callable(args, kwargs) or object.__new__(cls)

    def __getitem__(cls, key):
        return cls


def anything(name):
    def attribute(self, attribute):
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return anything(attribute)
    return Anything(name, (), {"__getattr__": attribute,
                               "__call__": lambda self, *args, **kwargs: first_callable(args, kwargs) or self})


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Of what the project's files import and nothing provides: what PyTorch looks for itself is not there."""

    def __init__(self, *roots):
        self.roots = tuple(f"{each}/" for each in roots)

    def find_spec(self, name, path=None, target=None):
        there = sys.modules.get(name.partition(".")[0])
        if there is not None and getattr(there.__spec__, "loader", None) is not self:
            return None
        asks = sys._getframe(1)
        while asks and "importlib" in asks.f_code.co_filename:
            asks = asks.f_back
        known = asks and asks.f_code.co_filename.startswith(self.roots)
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if known else None

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__path__ = []
        module.__getattr__ = lambda name: getattr(anything(spec.name), name)
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
        value = Settings(each.annotation) if name in CONFIGURATIONS else size_named(name)
        if value is None:
            return None
        out[name] = value
    return out


def is_one_of(name, words):
    return any(re.search(rf"(^|_){word}(s|$|_|\d)", name) for word in words)


def given(name, shape):
    """What a caller hands over by that name, beside inputs of that shape."""
    half = torch.bfloat16
    if name in MASKS:
        return None
    if is_one_of(name, ("ids", "tokens", "indices", "idx", "positions")):
        return torch.zeros(2, LENGTH, dtype=torch.int64)
    if is_one_of(name, ("cos", "sin", "freqs", "rope", "rotary", "pe")):
        return torch.empty((LENGTH, DIM // HEADS), dtype=half)
    if is_one_of(name, ("t", "time", "timestep", "sigma", "noise")):
        return torch.empty((2,), dtype=half)
    if is_one_of(name, ("temb", "emb", "c", "cond", "vec", "mod", "modulation")):
        return torch.empty((2, DIM), dtype=half)
    if is_one_of(name, ("len", "length", "height", "width", "h", "w", "frames", "heads")):
        return size_named(name) or {"h": 4, "w": 4}.get(name, 4)
    return torch.empty(shape, dtype=half)


def inputs_for(forward):
    """Lists of arguments to try."""
    half = torch.bfloat16
    shapes = [(2, LENGTH, DIM), (2, 3, IMAGE, IMAGE), (2, DIM, 8, 8), (2, 4, LENGTH, DIM), (2, HEADS, LENGTH, DIM // HEADS), (2, 8, 8, DIM),
              (2, LENGTH, HEADS, DIM // HEADS), (2, DIM, LENGTH), (2, DIM, 4, 8, 8), (2, 3, 4, IMAGE, IMAGE)]
    needed = [name for name, each in itertools.islice(inspect.signature(forward).parameters.items(), 1, None)
              if each.default is each.empty and each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    for shape in shapes:
        yield lambda: {name: None if name in MASKS else torch.empty(shape, dtype=half) for name in needed}
    for shape in shapes[:4]:
        yield lambda: {name: given(name, shape) for name in needed}
    yield lambda: {name: torch.zeros(2, LENGTH, dtype=torch.int64) for name in needed}


def calls_of(kind, path, known):
    """The calls of the first input that comes to the end, or to a refusal at one of them; of the one that did in `known`."""
    sizes = sizes_for(kind.__init__)
    if sizes is None:
        return None
    for which, inputs in enumerate(inputs_for(kind.forward)):
        if which != known.get(kind.__name__, which):
            continue
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
            known[kind.__name__] = which
            return watch.calls
    return None


def version(name):
    try:
        return KNOWN_VERSION(name)
    except importlib.metadata.PackageNotFoundError:
        return "99.0"


KNOWN_VERSION, importlib.metadata.version = importlib.metadata.version, version


def variant(name, source, path, package, known):
    """`known` has the input that each class ran with; others are left out then."""
    module = types.ModuleType(name)
    module.__file__, module.__package__ = str(path), package
    sys.modules[name] = module
    exec(compile(source, str(path), "exec"), vars(module))
    kinds = [each for each in vars(module).values() if inspect.isclass(each) and each.__module__ == name
             and issubclass(each, torch.nn.Module) and "forward" in vars(each)]
    wanted = [kind for kind in kinds if not known or kind.__name__ in known]
    return {kind.__name__: calls_of(kind, path, known) for kind in wanted}


def main():
    root, path = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    top = top_of(path)
    sys.path[:0] = [str(root), str(top)]
    with fake_cuda.fake_cuda():  # what PyTorch loads when it is first used
        torch.einsum("ij,jk->ik", torch.ones(2, 2), torch.ones(2, 2))
    sys.meta_path.append(StandIns(root, top))
    name = ".".join(path.relative_to(top).with_suffix("").parts)
    out, known = {}, {}
    with contextlib.redirect_stdout(io.StringIO()):
        with contextlib.suppress(Exception):  # as it is, with what its package loads beside it
            importlib.import_module(name)
        # The first is the file as it is.
        for which, source in json.load(sys.stdin)["variants"].items():
            if out and not known:
                break
            try:
                out[which] = variant(name, source, path, name.rpartition(".")[0], known)
            except Exception as error:
                out[which] = {"": f"{type(error).__name__}: {error}"}
    json.dump(out, sys.stdout)


main()
