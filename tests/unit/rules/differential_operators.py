"""Asks the PyTorch that runs this script for every call of operator_calls.py over dtype x dtype x rank class, for the
same under CPU autocast, and for random chains of 2 to 8 operators, and compares with what the rules predict.
Usage: differential_operators.py PREDICT_DTYPES [--chains N] [--seed N] [--list N]
Exits with 77 (skipped) where PyTorch cannot be imported."""
import argparse
import collections
import itertools
import random
import subprocess
import sys
import warnings

warnings.filterwarnings("ignore")
try:
    import torch
except ImportError as error:
    print(f"skipped: {sys.executable} cannot import PyTorch: {error}")
    sys.exit(77)
import operator_calls

VERSION = ".".join(torch.__version__.split("+")[0].split(".")[:2])
ALL = "uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex32 complex64 complex128 bool".split()
SAMPLE = "uint8 int64 float16 bfloat16 float32 float64 complex64 bool".split()  # for three operands
FLOATING = "float16 bfloat16 float32 float64 int64".split()  # under autocast
# Release 1.13 symbolizes a backtrace for each exception, so it is asked for fewer dtypes.
QUICK = torch.__version__ >= "2"
NUMBERS = {"bool": True, "int64": 3, "float64": 1.5, "complex128": 1j}
SHAPES = {"d": (2, 2), "f": (2, 2), "w": (2, 3), "v": (2,), "s": (), "3": (2, 2, 2), "4": (1, 2, 4, 4)}
# Of the cases that no device answers, at most this share may be left: more means that the test has stopped asking.
UNVERIFIED_SHARE = 0.10
# What a kernel that a build lacks says; it tells nothing about dtypes.
NO_KERNEL = ("not implemented for", "not supported for", "does not support", "Unsupported", "unsupported", "only supports",
             "could not be converted", "is not supported", "not currently supported", "Could not run", "MKL", "not compiled")
# Reasons other than dtype: a number out of range, a shape.
NOT_DTYPE = ("out of range", "overflow", "Dimension", "dimension", "singular", "positive-definite", "negative integer powers",
             "ZeroDivision", "size of tensor", "shape", "converge", "equal size")


def named(dtype):
    return str(dtype).replace("torch.", "")


class Observer:
    """Runs calls; a call that no CPU kernel serves is asked again on the meta device."""

    def __init__(self):
        self.unverified = collections.Counter()
        self.pool = {}

    def tensor(self, dtype, shape, device):
        key = dtype, shape, device
        if key not in self.pool:
            try:
                eye = torch.ones(SHAPES[shape]) if shape != "d" else torch.ones(2, 2) + torch.eye(2)
                made = eye.to(getattr(torch, dtype))
                self.pool[key] = made.to(device) if device == "meta" else made
            except Exception:  # a dtype without a copy kernel
                self.pool[key] = torch.empty(SHAPES[shape], dtype=getattr(torch, dtype), device=device)
        return self.pool[key]

    def operands(self, operands, device, fresh):
        made = [NUMBERS[dtype] if shape == "number" else self.tensor(dtype, shape, device) for dtype, shape in operands]
        return [x.clone() if fresh and torch.is_tensor(x) else x for x in made]

    def observe(self, name, call, operands):
        fresh = name.endswith(("_", "_out"))
        answer = self.once(call, operands, "cpu", fresh)
        if answer == "gap":
            # Meta kernels tell the result's dtype but lack many checks.
            meta = self.once(call, operands, "meta", fresh)
            answer = meta + "?" if meta not in ("gap", "other", "throws") else "gap"
        if answer in ("gap", "other"):
            self.unverified[name] += 1
            return None
        return answer

    def once(self, call, operands, device, fresh):
        try:
            result = call(device, *self.operands(operands, device, fresh))
            result = result[0] if isinstance(result, (tuple, list)) else result
            return named(result.dtype)
        except Exception as error:  # PyTorch throws many types
            text = str(error)
            if isinstance(error, (NotImplementedError, AttributeError)) or any(word in text for word in NO_KERNEL):
                return "gap"
            if device == "meta" and not isinstance(error, (RuntimeError, TypeError)):
                return "gap"
            return "other" if any(word in text for word in NOT_DTYPE) else "throws"


def compiled(expression, name):
    """The expression as a function of the device and its operands; None where this release lacks the operator."""
    base = name[:-4] if name.endswith("_out") else name
    short = base.split("_", 1)[1] if base.startswith(("linalg_", "special_", "fft_")) else base
    text = expression.replace("NAME", short).replace("BASE", base)
    if text.startswith("n("):
        text = f"torch.{base}" + text[1:]
    names = {"torch": torch}
    target = text.split("(")[0]
    if target.startswith("torch."):
        try:
            eval(target, names)  # the rows above are ours
        except AttributeError:
            return None
    elif target.startswith("a.") and not hasattr(torch.Tensor, target[2:]):
        return None
    fixed = {device: {"mask": torch.ones((2, 2), dtype=torch.bool, device=device),
                      "index": torch.tensor([0, 1], device=device),
                      "index2": torch.zeros((2, 2), dtype=torch.int64, device=device)} for device in ("cpu", "meta")}
    body = eval(f"lambda a=None, b=None, c=None, mask=None, index=None, index2=None: {text}", names)
    return lambda device, *operands: body(*operands, **fixed[device])


def forms(shape, dtypes):
    """Each way to make an operand: its dtype, its shape and its rank class."""
    for dtype in dtypes:
        if shape == "f" and "float" not in dtype:
            continue
        if shape in "rn":
            yield dtype, "d", "dim"
            yield dtype, "s", "zero"
        else:
            yield dtype, shape, "zero" if shape == "s" else "dim"
    if shape == "n":
        for dtype in NUMBERS:
            yield dtype, "number", "wrapped"


def calls():
    for expression, operands, names in operator_calls.ROWS:
        for name in names.split():
            call = compiled(expression, name)
            if call is not None:
                yield name, call, [(int(each[0]), each[1]) for each in operands.split()]


class Comparison:
    def __init__(self):
        self.questions, self.observed, self.unverified = [], [], 0

    def ask(self, question, observed):
        if observed is not None:
            self.questions.append(question)
            self.observed.append(observed)

    def disagreements(self, program):
        run = subprocess.run([program], input="\n".join(self.questions) + "\n", capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(run.stderr)
        for question, observed, predicted in zip(self.questions, self.observed, run.stdout.splitlines()):
            if observed.endswith("?") and predicted == "throws":
                self.unverified += 1
            elif predicted != observed.rstrip("?"):
                yield question, observed, predicted


def dtypes_for(operands, autocast):
    if autocast != "-" or operands > 2 and not QUICK:
        return FLOATING
    return ALL if operands < 2 or operands == 2 and QUICK else SAMPLE


def ask_table(comparison, observer, autocast="-"):
    for name, call, operands in calls():
        dtypes = dtypes_for(len(operands), autocast)
        for chosen in itertools.product(*(forms(shape, dtypes) for _, shape in operands)):
            written = " ".join(f"{position}:{dtype}:{rank}" for (position, _), (dtype, _, rank) in zip(operands, chosen))
            observed = observer.observe(name, call, [(dtype, shape) for dtype, shape, _ in chosen])
            comparison.ask(f"op {name} - cpu {autocast} {VERSION} {written}", observed)


# Operators that keep the shape (2, 2), so that any follows any. Rows of operator_calls.py tell how to call them.
CHAINED = set("neg exp log sqrt sin cos tanh sigmoid abs square floor reciprocal clone logical_not isnan add sub mul div pow "
              "maximum minimum atan2 remainder where matmul mm linear add_ mul_ sub_ div_ copy_ type_as float half bfloat16 "
              "double long transpose cumsum softmax kron_ conj eq lt copysign clamp_min softsign zeros_like".split())


def chain_steps():
    steps = []
    for name, call, operands in calls():
        if name in CHAINED and operands and operands[0][0] in (0, 1) and len(operands) <= 2:
            if operands[0][0] == 0 and all(shape in "rnd" for _, shape in operands):
                steps.append((name, call, operands))
    return steps


def ask_chains(comparison, observer, count, seed):
    """Random chains: each result is the next operator's first operand. Ends where PyTorch throws."""
    choose, steps = random.Random(seed), chain_steps()
    for _ in range(count):
        dtype = choose.choice(ALL)
        text, operand = f"chain {dtype} {VERSION}", (dtype, "d")
        for _ in range(choose.randint(2, 8)):
            name, call, operands = choose.choice(steps)
            others = [choose.choice(list(forms(shape, ALL))) for _, shape in operands[1:]]
            result = observer.once(call, [operand] + [(d, shape) for d, shape, _ in others], "cpu",
                                   name.endswith("_"))
            if result in ("gap", "other"):
                break
            text += " " + ",".join([name] + [f"{position}:{d}:{rank}" for (position, _), (d, _, rank)
                                             in zip(operands[1:], others)])
            comparison.ask(text, result)
            if result == "throws":
                break
            operand = (result, "d")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("predict_dtypes")
    arguments.add_argument("--chains", type=int, default=2500)
    arguments.add_argument("--seed", type=int, default=20)
    arguments.add_argument("--list", type=int, default=60)
    options = arguments.parse_args()
    torch.set_num_threads(1)
    comparison, observer = Comparison(), Observer()
    ask_table(comparison, observer)
    ask_chains(comparison, observer, options.chains, options.seed)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        ask_table(comparison, observer, "bfloat16")
    wrong = list(comparison.disagreements(options.predict_dtypes))
    for question, observed, predicted in wrong[:options.list]:
        print(f"{question}: PyTorch {torch.__version__} gives {observed}, the rules predict {predicted}")
    unverified, asked = sum(observer.unverified.values()) + comparison.unverified, len(comparison.questions)
    print(f"PyTorch {torch.__version__}: {asked} cases, {len(wrong)} disagreements, {unverified} unverified")
    if unverified > UNVERIFIED_SHARE * asked:
        print(f"too many unverified: {observer.unverified.most_common(12)}")
    sys.exit(1 if wrong or unverified > UNVERIFIED_SHARE * asked else 0)


if __name__ == "__main__":
    main()
