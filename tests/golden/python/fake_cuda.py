"""CUDA autocast on a machine without CUDA: fake tensors carry the device through PyTorch's dispatcher, autocast's own
kernels included, and tell each result's dtype. What Python's bindings do around the dispatcher and would start a device
for (indexing, moving) is done here by operators instead."""
import contextlib
import logging
import warnings

import torch
import torch.cuda.amp.common
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode

warnings.filterwarnings("ignore")
logging.disable(logging.ERROR)  # fake tensors log what they throw
torch.cuda.amp.common.amp_definitely_not_available = lambda: False
torch.cuda.is_bf16_supported = lambda *args, **kwargs: True


def expanded(index, rank):
    """An index as a list with one entry for each dimension, and None where one is added."""
    index = list(index) if isinstance(index, tuple) else [index]
    used = sum(1 for each in index if each is not None and each is not Ellipsis)
    if not any(each is Ellipsis for each in index):
        index.append(Ellipsis)
    at = next(i for i, each in enumerate(index) if each is Ellipsis)
    return index[:at] + [slice(None)] * (rank - used) + index[at + 1:]


def element(tensor, index):
    dimension, tensors = 0, {}
    for each in expanded(index, tensor.dim()):
        if each is None:
            tensor = tensor.unsqueeze(dimension)
            dimension += 1
        elif isinstance(each, slice):
            step = 1 if each.step is None else each.step
            start, stop, step = slice(each.start, each.stop, step).indices(tensor.size(dimension))
            tensor = torch.ops.aten.slice(tensor, dimension, start, stop, step)
            dimension += 1
        elif isinstance(each, torch.Tensor):
            tensors[dimension] = each
            dimension += 1
        else:
            tensor = tensor.select(dimension, int(each))
    if not tensors:
        return tensor
    indices = [tensors.get(i) for i in range(max(tensors) + 1)]
    return torch.ops.aten.index(tensor, indices)


class OnCuda(TorchFunctionMode):
    """Tensors are on CUDA wherever they come from."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        name = getattr(function, "__name__", "")
        if name == "__getitem__":
            return element(*args)
        if name == "__setitem__":  # a store leaves the dtype as it is
            return None
        if name == "nonzero" or (name == "where" and len(args) == 1):  # what data decides: all of them
            rows = torch.zeros(args[0].numel(), args[0].dim(), dtype=torch.int64, device="cuda")
            return rows.unbind(1) if name == "where" or kwargs.get("as_tuple") else rows
        if name in ("unique", "unique_consecutive"):
            all_of_it, places = args[0].flatten(), torch.zeros(args[0].numel(), dtype=torch.int64, device="cuda")
            asked = [each for each in kwargs if each.startswith("return_") and kwargs[each]]
            return (all_of_it, *[places for _ in asked]) if asked else all_of_it
        if name == "item":
            return 1.0 if args[0].is_floating_point() else 1
        if name in ("cuda", "cpu", "random_", "contiguous") or name.endswith(("uniform_", "normal_")):
            return args[0] if args else kwargs["tensor"]
        if name == "to":
            args = tuple(each for each in args if not is_device(each))
            kwargs.pop("device", None)
            if len(args) == 1 and not kwargs:
                return args[0]
        if name in FACTORIES:
            kwargs["device"] = "cuda"
            if name in RANDOM:
                like = {each: kwargs[each] for each in ("dtype", "device") if each in kwargs}
                return torch.empty(*args, **like)
            if name in ("tensor", "as_tensor") and not isinstance(args[0], torch.Tensor):
                dtype = kwargs.get("dtype") or given_dtype(args[0])
                return torch.empty(shape_of(args[0]), dtype=dtype, device="cuda")
        return function(*args, **kwargs)


RANDOM = ("rand", "randn")
FACTORIES = ("arange", "zeros", "ones", "empty", "full", "tensor", "as_tensor", "eye", "linspace", *RANDOM)


def is_device(value):
    return isinstance(value, torch.device) or isinstance(value, str)


def given_dtype(value):
    while isinstance(value, (list, tuple)):
        value = value[0]
    return torch.get_default_dtype() if isinstance(value, float) else torch.bool if isinstance(value, bool) else torch.int64


def shape_of(value):
    return (len(value), *shape_of(value[0])) if isinstance(value, (list, tuple)) else ()


def move(module, dtype=None, buffers=None):
    """Parameters and buffers to CUDA, floating ones to these dtypes; plain tensors keep theirs, as Module.to has it. What a
    class lists in _keep_in_fp32_modules stays float32, as transformers' from_pretrained has it."""
    def moved(tensor, to):
        to = to if to and tensor.is_floating_point() else tensor.dtype
        return torch.empty(tuple(tensor.shape), dtype=to, device="cuda")

    kept = {name for each in module.modules() for name in getattr(each, "_keep_in_fp32_modules", ())}
    for path, each in module.named_modules():
        own = torch.float32 if dtype and kept & set(path.split(".")) else dtype
        for name, value in each._parameters.items():
            if value is not None:
                each._parameters[name] = torch.nn.Parameter(moved(value, own), requires_grad=False)
        for name, value in each._buffers.items():
            if value is not None:
                each._buffers[name] = moved(value, buffers)
        for name, value in vars(each).items():
            if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
                vars(each)[name] = moved(value, None)
    return module


def module_to(module, *args, **kwargs):
    given = [each for each in (*args, *kwargs.values()) if isinstance(each, torch.dtype)]
    return move(module, *given * 2)


@contextlib.contextmanager
def fake_cuda():
    to, torch.nn.Module.to = torch.nn.Module.to, module_to
    try:
        with torch.no_grad(), FakeTensorMode(allow_non_fake_inputs=True), OnCuda():
            yield
    finally:
        torch.nn.Module.to = to


def assert_autocast_widens():
    """Without this a run under autocast would prove nothing."""
    with fake_cuda(), torch.autocast("cuda", dtype=torch.bfloat16):
        half = torch.empty(2, 8, dtype=torch.bfloat16)
        got = torch.nn.functional.normalize(half, dim=-1).dtype
        assert got == torch.float32, f"normalize under CUDA autocast gives {got}: autocast is not on"
        low = torch.nn.functional.linear(torch.empty(2, 8), torch.empty(4, 8)).dtype
        assert low == torch.bfloat16, f"linear under CUDA autocast gives {low}: autocast is not on"
