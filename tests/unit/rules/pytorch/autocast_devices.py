"""Compares autocast on CUDA, XPU, MPS and (for what no CPU kernel serves) CPU with what the rules predict, without such a device: fake tensors carry the device
through PyTorch's dispatcher, autocast's own kernels included, and tell the result's dtype. Every functional call of the
operators' tables is asked over the dtypes that autocast distinguishes.
Usage: autocast_devices.py PREDICT_DTYPES [--list N]. Exits with 77 (skipped) where PyTorch lacks fake tensors."""
import argparse
import itertools
import logging
import sys
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.ERROR)  # fake tensors log what they throw
try:
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    SWITCH = torch.get_autocast_dtype  # the interface that takes a device: 2.4
except (ImportError, AttributeError) as error:
    print(f"skipped: {sys.executable} has no PyTorch with fake tensors and autocast by device: {error}")
    sys.exit(77)
from differential_operators import Comparison, forms
from operator_calls import NO_ANSWER
from torch_observer import NO_KERNEL, NUMBERS, SHAPES, VERSION, answered
from variant_calls import all_calls

DEVICES = ("cuda", "xpu", "mps", "cpu")
LOWER = "float16"
DTYPES = {1: "float16 bfloat16 float32 float64 int64".split(), 2: "float16 bfloat16 float32 int64".split(),
          3: "float16 float32".split(), 4: "float16 float32".split()}
STATED = ("float16", "float32")  # the dtype= of those that take one
# Fake tensors compute these by other steps than a device's kernel: on the CPU, where differential_operators.py asks the
# kernels themselves, they give another dtype under autocast than those do. Their answers are counted, not compared.
FAKE_ONLY = set("normal linalg_pinv affine_grid_generator nn::functional::affine_grid".split())
# What PyTorch says when it throws for a reason of dtype; anything else is a fake kernel that is missing.
OF_DTYPE = ("unsafe to autocast", "Unexpected floating", "dtype", "scalar type", "same type", "data type")
UNVERIFIED_SHARE = 0.15


class FakeObserver:
    def __init__(self, device):
        self.device, self.pool, self.unverified = device, {}, 0
        self.fixed = {"mask": torch.empty((2, 2), dtype=torch.bool, device=device),
                      "index": torch.empty(2, dtype=torch.int64, device=device),
                      "index2": torch.empty((2, 2), dtype=torch.int64, device=device)}

    def tensor(self, dtype, shape):
        key = dtype, shape
        if key not in self.pool:
            self.pool[key] = torch.empty(SHAPES[shape], dtype=getattr(torch, dtype), device=self.device)
        return self.pool[key]

    def observe(self, call, operands, dtype):
        made = [NUMBERS[d] if shape == "number" else self.tensor(d, shape) for d, shape in operands]
        try:
            return answered(call.function(dict(zip("abcd", made), dt=dtype and getattr(torch, dtype), **self.fixed))) + "?"
        except Exception as error:  # PyTorch throws many types
            text = str(error)
            if not isinstance(error, RuntimeError) or not any(word in text for word in OF_DTYPE) or any(word in text for word in NO_KERNEL):
                self.unverified += 1
                return None
            return "throws"


def ask(comparison, device, calls):
    observer = FakeObserver(device)
    torch.set_autocast_dtype(device, getattr(torch, LOWER))
    torch.set_autocast_enabled(device, True)
    try:
        for call in calls:
            shapes = (forms(shape, DTYPES[len(call.operands)]) for _, shape in call.operands)
            for dtype, *chosen in itertools.product(STATED if call.takes_dtype else (None,), *shapes):
                ranks = [rank for _, _, rank in chosen]
                if ranks.count("wrapped") == len(ranks) > 0 or len(ranks) > 1 and "zero" in ranks:
                    continue
                if device == "cpu" and (call.name, LOWER) in NO_ANSWER:  # autocast makes every operand one of that dtype
                    observer.unverified += 1
                    continue
                observed = observer.observe(call, [(d, shape) for d, shape, _ in chosen], dtype)
                written = "".join(f" {argument}:{d}:{rank}" for (argument, _), (d, _, rank) in zip(call.operands, chosen))
                comparison.ask(call.name, f"op {call.name} {dtype or '-'} {device} {LOWER} {VERSION}{written}", observed)
    finally:
        torch.set_autocast_enabled(device, False)
    return observer.unverified


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("predict_dtypes")
    arguments.add_argument("--list", type=int, default=60)
    arguments.add_argument("--devices", default=",".join(DEVICES))
    options = arguments.parse_args()
    torch.set_num_threads(1)
    # No factories: autocast does not act on them.
    calls = [call for call in all_calls(set()) if call.operands and not call.writes]
    failed = False
    for device in options.devices.split(","):
        comparison = Comparison()
        with FakeTensorMode():
            unverified = ask(comparison, device, calls)
        differing = list(comparison.disagreements(options.predict_dtypes))
        wrong = [each for each in differing if each[0].split()[1] not in FAKE_ONLY]
        stale = FAKE_ONLY - {question.split()[1] for question, _, _ in differing}
        for question, observed, predicted in wrong[:options.list]:
            print(f"{question}: PyTorch {torch.__version__} gives {observed}, the rules predict {predicted}")
        unverified, asked = unverified + comparison.unverified, len(comparison.questions)
        print(f"PyTorch {torch.__version__} on {device}: {len(comparison.answered)} operators, {asked} cases, {len(wrong)} disagreements, "
              f"{unverified} unverified, {len(differing) - len(wrong)} that only fake tensors give: {' '.join(sorted(FAKE_ONLY))}")
        if stale:
            print(f"FAKE_ONLY excuses nothing of {' '.join(sorted(stale))}")
        failed = failed or bool(wrong or stale) or unverified > UNVERIFIED_SHARE * (asked + unverified)
    sys.exit(1 if failed else 0)


main()
