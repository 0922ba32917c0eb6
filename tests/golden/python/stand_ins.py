"""Modules that stand for attention libraries while a case runs: each call notes the dtypes that arrive, and gives back
what the contract in rules/contracts says. Whether they are right is asked of the same contracts."""
import functools
import importlib.util
import json
import pathlib
import sys
import types

import torch

ROOT = pathlib.Path(__file__).resolve().parents[3]
CONTRACTS = ROOT / "rules" / "contracts"
MODELS = ROOT / "analyzer" / "python" / "library_models"  # files that dtype-lint reads for packages which are not installed
GROUPS = {"half": ["float16", "bfloat16"], "floating": ["float16", "bfloat16", "float32", "float64"]}


@functools.cache  # each run of a case asks for some two hundred of them
def all_apis():
    documents = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(CONTRACTS.glob("*.json"))]
    return [(each["library"], api) for each in documents if each.get("schema") for api in each.get("apis", [])]


def newest(spelling, versions):
    """The API that a name stands for on CUDA, in the version asked for, else the newest."""
    number = lambda text: [int(each) for each in text.split(".")[:2]]
    for library, api in all_apis():
        if spelling not in api["spellings"] and spelling != api["name"]:
            continue
        if "cuda" not in api.get("devices", ["cuda"]):
            continue
        limits, wanted = api.get("versions", {}), versions.get(library)
        if wanted is None and "until" in limits:
            continue
        if wanted and not ("since" not in limits or number(limits["since"]) <= number(wanted)):
            continue
        if wanted and not ("until" not in limits or number(wanted) < number(limits["until"])):
            continue
        return api
    raise LookupError(spelling)


def accepts(operand):
    return [dtype for word in operand.get("accepts", []) for dtype in GROUPS.get(word, [word])]


class Recorder:
    def __init__(self, versions):
        self.versions, self.calls, self.broken = versions, 0, []

    def function(self, spelling):
        api = newest(spelling, self.versions)

        def call(*args, **kwargs):
            return self.take(api, args, kwargs)
        call.get_interface = lambda name, otherwise: call  # where it is a table: each of its functions has its contract
        call.__name__ = call.__qualname__ = spelling.rsplit(".", 1)[-1]
        return call

    def take(self, api, args, kwargs):
        self.calls += 1
        arrived = {}
        for operand in api["operands"]:
            value = kwargs.get(operand.get("keyword", operand["role"]))
            if value is None and operand["argument"] < len(args):
                value = args[operand["argument"]]
            if isinstance(value, torch.Tensor):
                arrived[operand["role"]] = value
        arrived = self.cast(api, kwargs, arrived)
        recast = torch.is_autocast_enabled("cuda") and api.get("autocast", {}).get("cuda") == "recasts"
        if not recast:
            self.compare(api, {role: str(value.dtype)[6:] for role, value in arrived.items()})
        return self.result(api, arrived, recast)

    @staticmethod
    def cast(api, kwargs, arrived):
        """What the library casts itself before its kernel runs."""
        first, casts = arrived.get(api["operands"][0]["role"]), api.get("recast", {})
        target = kwargs.get(casts.get("keyword"))
        if first is None or target is None or str(first.dtype)[6:] != casts["from"]:
            return arrived
        return {role: value.to(target) for role, value in arrived.items()}

    def compare(self, api, dtypes):
        for operand in api["operands"]:
            role, same = operand["role"], operand.get("same_as")
            if role not in dtypes or dtypes[role] in accepts(operand) or (same and same not in dtypes):
                continue
            if same and dtypes[role] == dtypes[same]:
                continue
            self.broken.append(f"{role} of {api['name']} is {dtypes[role]}")

    @staticmethod
    def result(api, arrived, recast):
        def like(role):
            value = torch.empty_like(arrived[role])
            return value.to(torch.get_autocast_dtype("cuda")) if recast else value
        if "results" in api:
            return tuple(like(role) for role in api["results"] if role in arrived)
        return like(api.get("result_like") or next(iter(arrived)))


def module_for(name):
    """Without a model an empty one; modules below it may have models."""
    module, path = types.ModuleType(name), MODELS / name.replace(".", "/")
    module.__path__ = [str(path)]
    source = path.with_suffix(".py")
    if source.exists():
        exec(compile(source.read_text(encoding="utf-8"), str(source), "exec"), module.__dict__)
    return module


def rearranging():
    """einops_exts, of einops."""
    import einops
    module = types.ModuleType("einops_exts")
    for name, one in (("rearrange_many", einops.rearrange), ("repeat_many", einops.repeat)):
        setattr(module, name, lambda tensors, *pattern, one=one, **sizes: [one(each, *pattern, **sizes) for each in tensors])
    return module


def loading_kernels():
    """kernels, of the repositories that have flash_attn's functions."""
    module = types.ModuleType("kernels")
    module.get_kernel = lambda name, **_: sys.modules["flash_attn_interface" if name.endswith("flash-attn3") else "flash_attn"]
    return module


def install(recorder, made):
    """Every Python spelling of the contracts becomes a module's member, but where the module is installed. `made` gets
    the names of the modules."""
    if importlib.util.find_spec("einops") and not importlib.util.find_spec("einops_exts"):
        sys.modules["einops_exts"] = rearranging()
        made.append("einops_exts")
    if not importlib.util.find_spec("kernels"):
        sys.modules["kernels"] = loading_kernels()
        made.append("kernels")
    for _, api in all_apis():
        for spelling in api["spellings"]:
            parts = spelling.split(".")
            if len(parts) < 2 or "::" in spelling or not spelling.replace(".", "").isidentifier():
                continue
            if parts[0] == "torch" or parts[0] not in made and importlib.util.find_spec(parts[0]):
                continue
            for depth in range(1, len(parts)):
                name = ".".join(parts[:depth])
                if name not in sys.modules:
                    sys.modules[name] = module_for(name)
                    made.append(name)
                if depth > 1:
                    setattr(sys.modules[".".join(parts[:depth - 1])], parts[depth - 1], sys.modules[name])
            try:
                setattr(sys.modules[".".join(parts[:-1])], parts[-1], recorder.function(spelling))
            except LookupError:
                pass  # not in this version
