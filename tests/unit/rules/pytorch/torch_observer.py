"""What a call of PyTorch answers, as a word to compare with: a dtype, `throws`, or nothing when the answer says nothing
about dtypes (a kernel that the build lacks, a number out of range). A call that no CPU kernel serves is asked again on
the meta device, whose answer is marked with "?": meta kernels know the result's dtype but lack many checks."""
import collections
import re

import torch

VERSION = ".".join(torch.__version__.split("+")[0].split(".")[:2])
NUMBERS = {"bool": True, "int64": 3, "float64": 1.5, "complex128": 1j}
SHAPES = {"d": (2, 2), "w": (32, 32), "c": (3, 3), "v": (2,), "s": (), "o": (1,), "e": (4,),  "3": (2, 2, 2), "4": (1, 2, 4, 4),
          "5": (1, 2, 4, 4, 4), "m": (4, 4), "g": (1, 2, 2, 2), "t": (4, 2, 2), "a": (1, 2, 3), "k": (1, 1, 4), "p": (1, 4, 2, 2)}
# What a kernel that a build lacks says; it tells nothing about dtypes.
NO_KERNEL = ("not implemented for", "not supported for", "does not support", "Unsupported", "unsupported", "only supports",
             "could not be converted", "is not supported", "not currently supported", "Could not run", "MKL", "not compiled",
             "not linked with support", "one of the following scalar types")
# A rule of dtype, though it reads like a missing kernel.
REFUSES_BOOL = re.compile(r"with (a bool tensor|two bool tensors) is not supported")
REFUSES_COMPLEX = re.compile(r"(not|n't) (yet )?(currently )?(intended to )?(supported|support|implemented) (for )?complex", re.I)
# Reasons other than dtype: a number out of range, a shape.
NOT_DTYPE = ("out of range", "overflow", "Dimension", "dimension", "singular", "positive-definite", "negative integer powers",
             "ZeroDivision", "size of tensor", "shape", "converge", "equal size", "inconsistent with step", "channels, but got")


def named(dtype):
    return str(dtype).replace("torch.", "")


def answered(result):
    """The dtype of a result; a Python bool is one too. Of several results the first counts."""
    if isinstance(result, (tuple, list)):
        result = result[0]
    return "bool" if isinstance(result, bool) else named(result.dtype)


class Observer:
    def __init__(self):
        self.unverified = collections.Counter()
        self.pool = {}
        self.fixed = {device: {"mask": torch.ones((2, 2), dtype=torch.bool, device=device),
                               "index": torch.tensor([0, 1], device=device),
                               "index2": torch.zeros((2, 2), dtype=torch.int64, device=device)}
                      for device in ("cpu", "meta")}

    def tensor(self, dtype, shape, device):
        key = dtype, shape, device
        if key not in self.pool:
            try:
                values = torch.ones(SHAPES[shape]) if shape != "d" else torch.ones(2, 2) + torch.eye(2)
                made = values.to(getattr(torch, dtype))
                self.pool[key] = made.to(device) if device == "meta" else made
            except Exception:  # a dtype without a copy kernel
                self.pool[key] = torch.empty(SHAPES[shape], dtype=getattr(torch, dtype), device=device)
        return self.pool[key]

    def observe(self, call, operands, dtype=None, out=None, autocast=False):
        answer = self.once(call, operands, "cpu", dtype, out)
        # The meta device has no autocast; autocast_devices.py asks fake tensors, which have.
        if answer == "gap" and not autocast:
            meta = self.once(call, operands, "meta", dtype, out)
            answer = meta + "?" if meta not in ("gap", "other", "throws") else "gap"
        if answer in ("gap", "other"):
            self.unverified[call.name] += 1
            return None
        return answer

    def once(self, call, operands, device, dtype=None, out=None):
        # 1.13's torch.ops makes an int of a bool that it takes for a number.
        if VERSION == "1.13" and call.dispatches() and ("bool", "number") in operands:
            return "gap"
        made = [NUMBERS[d] if shape == "number" else self.tensor(d, shape, device) for d, shape in operands]
        if call.writes:
            made = [x.clone() if torch.is_tensor(x) else x for x in made]
        values = dict(zip("abcd", made), **self.fixed[device])
        if dtype is not None:
            values["dt"] = getattr(torch, dtype)
        if out is not None:
            values["o"] = torch.empty(0, dtype=getattr(torch, out), device=device)
        try:
            result = call.function(values)
            # Some meta kernels return another tensor than the one to write.
            return "gap" if out is not None and result is not values["o"] else answered(result)
        except Exception as error:  # PyTorch throws many types
            text = str(error)
            if out is not None and isinstance(error, TypeError) and call.through_ops():
                return self.once(call, operands, device, dtype, out)
            if out is not None and (isinstance(error, TypeError) or "any schema" in text):
                return "gap"
            if REFUSES_COMPLEX.search(text) or REFUSES_BOOL.search(text):
                return "throws"
            if isinstance(error, (NotImplementedError, AttributeError)) or any(word in text for word in NO_KERNEL):
                return "gap"
            if device == "meta" and not isinstance(error, (RuntimeError, TypeError)):
                return "gap"
            return "other" if any(word in text for word in NOT_DTYPE) else "throws"


class Call:
    """One way to call an operator: `function` takes the values of the names in the expression; `operands` are pairs of the
    argument (a position or a name of the table's entry) and a shape."""

    def __init__(self, name, expression, operands, other=None):
        self.name, self.operands, self.other = name, operands, other
        self.writes = name.endswith(("_", "_out"))
        self.text, self.code = expression, compile(expression, name, "eval")
        self.takes_dtype = bool(re.search(r"\bdt\b", expression))
        self.takes_out = bool(re.search(r"\bout=o\b", expression))

    def dispatches(self):
        return "ops.aten" in self.text

    def through_ops(self):
        """Where a function of torch takes no out=, the dispatcher's operator may. False when there is nothing to try."""
        text, self.other = self.other, None
        if text is not None:
            self.text, self.code = text, compile(text, self.name, "eval")
        return text is not None

    def function(self, values):
        return eval(self.code, {"torch": torch}, values)  # the expressions are ours


def exists(expression):
    """Whether this release has what the expression calls."""
    target = re.match(r"[\w.]+", expression).group(0)
    if target.startswith("a.") or target == "a":
        return target == "a" or hasattr(torch.Tensor, target[2:])
    found = {"torch": torch}.get(target.split(".")[0])
    for part in target.split(".")[1:]:
        found = getattr(found, part, None)
    return found is not None


def spelled(expression, name):
    """The expression of a row for one of its operators."""
    base = name.split("::")[-1].split(".")[0]  # "max.1" is the second result of max
    base = base[:-4] if base.endswith("_out") else base
    short = base.split("_", 1)[1] if base.startswith(("linalg_", "special_", "fft_")) and "ops.aten" not in expression else base
    text = expression.replace("NAME", short).replace("BASE", base)
    return f"torch.{base}" + text[1:] if text.startswith("n(") else text


def operands_of(text):
    made = []
    for each in text.split():
        argument, shape = each.split("=") if "=" in each else (each[0], each[1])
        made.append((argument, shape))
    return made
