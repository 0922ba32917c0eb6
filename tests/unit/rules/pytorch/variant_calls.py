"""The calls of a row's operators and, made from them, those of the in-place and out= variants that this PyTorch has."""
import re

import more_calls
import operator_calls
import option_calls
import torch
from torch_observer import VERSION, Call, exists, operands_of, spelled


def written_rows():
    for expression, operands, names in operator_calls.ROWS + more_calls.ROWS + option_calls.ROWS:
        for name in names.split():
            text = spelled(expression, name)
            if exists(text) and name not in operator_calls.NOT_CALLED_IN.get(VERSION, {}):
                yield name, text, operands_of(operands)


def in_place(name, text):
    """`torch.mul(a, b)` as `a.mul_(b)`, or through torch.ops where there is no method."""
    rest = re.match(r"[\w.]+\(a(?:, )?(.*)$", text, re.S)
    if text.startswith("a.") and "(" in text:
        rest = re.match(r"a\.\w+\((.*)$", text, re.S)
    if rest is None:
        return None
    method = f"a.{name}_(" + rest.group(1)
    if exists(method):
        return method
    function = f"torch.ops.aten.{name}_(a, " + rest.group(1)
    return function if exists(function) else None


def with_out(name, text):
    """`torch.mul(a, b)` as `torch.mul(a, b, out=o)`, or through torch.ops where the function takes no out=."""
    packet = getattr(torch.ops.aten, name, None)
    call = re.match(r"(torch[\w.]+)\((.*)\)$", text, re.S)
    if call is None or packet is None or not has_out(name):
        return None
    if call.group(1).startswith("torch.nn.functional"):
        return f"torch.ops.aten.{name}({call.group(2)}, out=o)"
    return f"{call.group(1)}({call.group(2)}, out=o)"


OUT_SCHEMAS = {schema.name[len("aten::"):] for schema in torch._C._jit_get_all_schemas()
               if schema.name.startswith("aten::") and any(a.name == "out" and a.is_out for a in schema.arguments)}


def has_out(name):
    return name in OUT_SCHEMAS


def in_release(name):
    """Whether this PyTorch has the operator, wherever Python finds it. What is made of a form or of a further result
    is no operator: max.1_out."""
    if "." in name and name.endswith("_out") and name != "div.rounded_out":
        return False
    name = name.split(".")[0]
    places = [torch, torch.Tensor, torch.nn.functional, torch.ops.aten, torch.nn.init, torch._C._nn, torch.utils.dlpack]
    short = name.split("_", 1)[-1] if name.startswith(("special_", "linalg_", "fft_", "nested_")) else name.split("::")[-1]
    places += [getattr(torch, module) for module in ("special", "linalg", "fft", "nested") if hasattr(torch, module)]
    return any(hasattr(place, each) for place in places for each in {name, short})


def has_variant(name):
    """Whether this PyTorch has the in-place or out= variant."""
    if name.endswith("_out"):
        return has_out(name[:-len("_out")])
    return hasattr(torch.Tensor, name) or hasattr(torch.ops.aten, name)


def all_calls(variants):
    """Every call, with those of the variants whose names are in `variants`."""
    rows = list(written_rows())
    given = {name for name, _, _ in rows}
    for name, text, operands in rows:
        yield Call(name, text, operands)
        if name.endswith(("_", "_out")) or re.search(r"\bdt\b", text) or "." in name:
            continue
        on_first = bool(operands) and operands[0][0] == "0"
        method = in_place(name, text) if on_first and f"{name}_" in variants and f"{name}_" not in given else None
        if method is not None:
            yield Call(f"{name}_", method, operands)
        out = with_out(name, text) if f"{name}_out" in variants and f"{name}_out" not in given else None
        if out is not None:
            shifted = [(str(int(argument) + 1) if argument.isdigit() else argument, shape) for argument, shape in operands]
            ops = re.sub(r"^torch[\w.]+", f"torch.ops.aten.{name}", out)
            yield Call(f"{name}_out", out, shifted, other=ops if ops != out else None)
