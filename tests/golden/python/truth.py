"""Runs each case's twins with PyTorch under each precision setting, on fake CUDA tensors with stand-ins for attention
libraries, and holds what arrives at the calls against the contracts and against the case's own `# breaks:` line.

    truth.py [NAME...]      exits with 77 (skipped) where PyTorch is too old or missing
"""
import contextlib
import pathlib
import sys
import traceback

try:
    import torch
    torch.get_autocast_dtype  # the interface that takes a device: 2.4
except (ImportError, AttributeError) as error:
    print(f"skipped: {sys.executable} has no PyTorch with fake tensors and autocast by device: {error}")
    sys.exit(77)
from torch.overrides import TorchFunctionMode

import fake_cuda
import stand_ins
from twins import EXAMPLES, HERE, SETTINGS, cases

SDPA = "torch.nn.functional.scaled_dot_product_attention"
WITH_WEIGHTS = "torch.nn.functional.multi_head_attention_forward"
PRODUCTS = ("matmul", "__matmul__", "bmm", "baddbmm", "einsum")


def refusals_of_stores():
    """By the dtypes of tensor and source, asked of the CPU's kernels: fake tensors do not check, and autocast on CUDA does not
    act on them."""
    refused = {}
    places = torch.zeros(1, dtype=torch.int64)
    calls = {"index_copy": lambda tensor, source: tensor.index_copy(0, places, source),
             "index_add": lambda tensor, source: tensor.index_add(0, places, source),
             "masked_scatter": lambda tensor, source: tensor.masked_scatter(torch.ones(1, dtype=torch.bool), source),
             "__setitem__": lambda tensor, source: tensor.__setitem__(places, source)}
    for name, call in calls.items():
        for tensor in (torch.float16, torch.bfloat16, torch.float32):
            for source in (torch.float16, torch.bfloat16, torch.float32):
                try:
                    call(torch.zeros(1, dtype=tensor), torch.zeros(1, dtype=source))
                except RuntimeError as error:
                    refused[name, tensor, source] = error
    return refused


STORES = refusals_of_stores()


def names_places(index):
    """Whether a subscript has a list, or a tensor that is no single number, among its parts."""
    parts = index if isinstance(index, tuple) else (index,)
    return any(isinstance(each, list) or (isinstance(each, torch.Tensor) and each.dim() > 0) for each in parts)


def refusals_of_layers():
    """The same of an input and a weight."""
    refused = {}
    calls = {"linear": lambda x, w: torch.nn.functional.linear(x[0, 0], w[0, 0]),
             "conv1d": lambda x, w: torch.nn.functional.conv1d(x[0], w[0]),
             "conv2d": torch.nn.functional.conv2d}
    dtypes = (torch.float16, torch.bfloat16, torch.float32)
    for name, call in calls.items():
        for x in dtypes:
            for w in dtypes:
                try:
                    call(torch.zeros(1, 1, 1, 1, dtype=x), torch.zeros(1, 1, 1, 1, dtype=w))
                except RuntimeError as error:
                    refused[name, x, w] = error
    assert all((name, x, w) in refused or x == w for name in calls for x in dtypes for w in dtypes)
    return refused


LAYERS = refusals_of_layers()


class WatchOperators(TorchFunctionMode):
    def __init__(self, recorder):
        super().__init__()
        self.take, self.take_with_weights = recorder.function(SDPA), recorder.function(WITH_WEIGHTS)
        self.products, self.wide = 0, []

    def take_product(self, function, args):
        """Under autocast products cast their operands themselves."""
        self.products += 1
        flat = [one for each in args for one in (each if isinstance(each, (list, tuple)) else [each])]
        operands = [each for each in flat if isinstance(each, torch.Tensor)]
        if not torch.is_autocast_enabled("cuda") and all(each.dtype == torch.float32 for each in operands):
            self.wide.append(f"{function.__name__} of float32 operands")

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if getattr(function, "__name__", "") in PRODUCTS:
            self.take_product(function, args)
        if getattr(function, "__name__", "") == "scaled_dot_product_attention":
            return self.take(*args, **(kwargs or {}))
        if getattr(function, "__name__", "") == "multi_head_attention_forward":
            return self.take_with_weights(*args, **(kwargs or {})), None
        stores = getattr(function, "__name__", "").removesuffix("_")
        if stores in ("index_copy", "index_add", "masked_scatter"):
            store = (stores, args[0].dtype, args[-1].dtype)
            if store in STORES:
                raise STORES[store]
        if getattr(function, "__name__", "") == "__setitem__" and names_places(args[1]) and isinstance(args[2], torch.Tensor):
            store = ("__setitem__", args[0].dtype, args[2].dtype)
            if store in STORES:
                raise STORES[store]
        name = getattr(function, "__name__", "")
        if name in ("linear", "conv1d", "conv2d") and not torch.is_autocast_enabled("cuda"):
            x, weight = [*args[:2], *((kwargs or {})[each] for each in ("input", "weight")[len(args):])]
            layer = (name, x.dtype, weight.dtype)
            if layer in LAYERS:
                raise LAYERS[layer]
        return function(*args, **(kwargs or {}))


def comes_from(module, folder):
    own = vars(module)  # some modules of PyTorch have whatever they are asked for
    places = [own.get("__file__") or "", *own.get("__path__", [])]
    return any(each.startswith(folder + "/") for each in places)


def broken_under(case, which, setting):
    """What calls refuse when the twin runs; that a case never comes to a call is an error of the case."""
    parameters, buffers, inputs, autocast = (each and getattr(torch, each) for each in SETTINGS[setting])
    versions = dict(each.split("=") for each in case.said("library", False).split())
    recorder = stand_ins.Recorder(versions)
    made = []
    namespace = {"__name__": "__main__" if case.said("main", False) else "case"}
    cast = torch.autocast("cuda", dtype=autocast) if autocast else contextlib.nullcontext()

    def go(module, *args, **kwargs):
        fake_cuda.move(module, parameters, buffers)
        return module(*args, **kwargs)
    namespace |= {"x": lambda *shape: torch.empty(shape, dtype=inputs), "go": go,
                  "ids": lambda *shape: torch.zeros(shape, dtype=torch.int64)}

    def attend(q, v, k=None):
        """What a caller that is not in the file does with what a rotary embedding gives back."""
        return sys.modules["flash_attn"].flash_attn_func(q, q if k is None else k, v)
    namespace["attend"] = attend
    refused = []
    attention = recorder.function("torch.nn.MultiheadAttention")
    forward, torch.nn.MultiheadAttention.forward = torch.nn.MultiheadAttention.forward, lambda self, *a, **k: (*attention(*a, **k), None)
    packages = [str(HERE / each) for each in case.said("packages", False).split()]
    sys.path[:0] = packages
    watch = WatchOperators(recorder)
    try:
        stand_ins.install(recorder, made)
        if case.said("models", False):  # behind what is installed or stands in
            packages.append(str(stand_ins.MODELS))
            sys.path.append(str(stand_ins.MODELS))
        with fake_cuda.fake_cuda(), watch:
            exec(compile(case.twin(which), str(case.path), "exec"), namespace)
            with cast:
                eval(case.run, namespace)
    except AssertionError as error:  # a check that the case itself makes
        if traceback.extract_tb(error.__traceback__)[-1].filename != str(case.path):
            raise
        refused = [f"assert: {error}"]
    except RuntimeError as error:  # an operator of PyTorch that refuses its operands' dtypes
        if not any(word in str(error) for word in ("dtype", "scalar type", "same type")):
            raise
        refused = [str(error).splitlines()[0]]
    finally:
        torch.nn.MultiheadAttention.forward = forward
        for folder in packages:
            sys.path.remove(folder)
            for name in [name for name, module in sys.modules.items() if comes_from(module, folder)]:
                del sys.modules[name]  # it stands in for this run alone
        for name in made:
            sys.modules.pop(name, None)
    products = case.said("products", False)
    if products:
        recorder.calls += watch.products
    if products == "half":  # what is computed wide without a cast is the case's own bug
        refused += watch.wide
    assert recorder.calls or refused, "no call was reached"
    return recorder.broken + refused


def assert_what_the_cpu_does():
    """What devices.py expects of code that names the CPU."""
    half = torch.ones(2, 8, dtype=torch.bfloat16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.nn.functional.normalize(half, dim=-1).dtype == torch.bfloat16
        assert (half * torch.ones(8)).dtype == torch.float32
    q = torch.ones(1, 1, 8, 8, dtype=torch.bfloat16)
    assert torch.nn.functional.scaled_dot_product_attention(q, q, q, attn_mask=torch.zeros(8, 8)).dtype == torch.bfloat16


def main():
    fake_cuda.assert_autocast_widens()
    assert_what_the_cpu_does()
    wrong = []
    ran = 0
    examples = [each for each in EXAMPLES if len(sys.argv) == 1 or any(name in each.name for name in sys.argv[1:])]
    for case in cases(sys.argv[1:]) + examples:
        for which in ("bad", "ok"):
            for setting in SETTINGS:
                if which == "ok" and setting in case.ruled_out:
                    continue
                try:
                    broken = broken_under(case, which, setting)
                except Exception:
                    wrong.append(f"{case.name} {which} {setting}: {traceback.format_exc(limit=-2)}")
                    continue
                ran += 1
                if bool(broken) != (which == "bad" and setting in case.breaks):
                    wrong.append(f"{case.name} {which} {setting}: refused: {broken or 'nothing'}; the case says otherwise")
    print("\n".join(wrong) or f"{ran} runs as the cases say")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
