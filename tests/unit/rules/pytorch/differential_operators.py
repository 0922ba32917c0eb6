"""Asks the PyTorch that runs this script for every operator of the table, its in-place and out= variants included, over
dtype x dtype x rank class, for the same under CPU autocast, and for random chains of 2 to 8 operators, and compares with
what the rules predict. An operator that no call reaches fails the test unless NOT_CALLED says why.
Usage: differential_operators.py PREDICT_DTYPES [--chains N] [--seed N] [--list N] [--only NAME,...]
Exits with 77 (skipped) where PyTorch cannot be imported."""
import argparse
import collections
import importlib.util
import itertools
import math
import os
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
from torch_observer import NUMBERS, VERSION, Observer
from variant_calls import all_calls, has_variant, in_release

ALL = "uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex32 complex64 complex128 bool".split()
SAMPLE = "uint8 int64 float16 bfloat16 float32 float64 complex64 bool".split()  # where SAMPLED says so
# Of the cases that no device answers, at most this share may be left: more means that the test has stopped asking.
UNVERIFIED_SHARE = 0.12 if VERSION == "1.13" else 0.10  # 1.13 has fewer kernels on the CPU


def forms(shape, dtypes):
    """Each way to make an operand: its dtype, its shape and its rank class."""
    for dtype in dtypes if shape not in "NI" else ():
        if shape in "rnR":
            yield dtype, "d", "dim"
            yield dtype, "s", "zero"
        else:
            yield dtype, shape, "zero" if shape == "s" else "dim"
    if shape in "nNI":
        for dtype in NUMBERS if shape != "I" else ("int64", "float64"):
            yield dtype, "number", "wrapped"


class Comparison:
    def __init__(self):
        self.questions, self.observed, self.unverified, self.answered = [], [], 0, set()
        self.left_out = collections.Counter()
        self.either = collections.defaultdict(set)

    def ask(self, name, question, observed):
        if observed is not None:
            self.answered.add(name)
            self.questions.append(question)
            self.observed.append(observed)

    def disagreements(self, program):
        for question, observed, predicted in zip(self.questions, self.observed, answers(program, self.questions)):
            if observed.endswith("?") and predicted == "throws" or predicted == "undefined":  # the table leaves it open
                self.unverified += 1
            elif observed.rstrip("?") not in predicted.split("|"):
                yield question, observed, predicted
            elif "|" in predicted:
                self.either[question.split()[1]].add(observed == "throws")

    def one_sided(self):
        """Operators that the rules let throw or not, and that always did the same: the rule is wider than PyTorch."""
        return [f"{name}: always {'throws' if True in seen else 'gives a dtype'} where the rules predict either"
                for name, seen in self.either.items() if len(seen) == 1]


# What cannot be asked where numpy is not installed beside PyTorch.
WITHOUT_NUMPY = {} if importlib.util.find_spec("numpy") else {"from_numpy": "numpy is not installed"}


def has_bfloat16_kernels():
    """Releases before 2.0 cannot be asked, and have no such kernels under autocast."""
    asked = getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", None)
    return asked is None or asked()


# The kernels of autocast.json that the CPU's own library has where the CPU multiplies bfloat16; elsewhere PyTorch goes by steps.
NOT_UNDER_AUTOCAST = {} if has_bfloat16_kernels() else {
    name: "under autocast: this CPU has no bfloat16 recurrent kernel (AVX512 or better)" for name in ("lstm", "lstm.1")}


def answers(program, questions):
    # What is preloaded here is for PyTorch (no_backtrace.c).
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    run = subprocess.run([program], input="\n".join(questions) + "\n", capture_output=True, text=True, env=environment)
    if run.returncode != 0:
        sys.exit(run.stderr)
    return run.stdout.splitlines()


def sampled(call, autocast):
    """The key of SAMPLED for a call that is asked for a sample of the dtypes, or None."""
    dtypes = len(call.operands) + call.takes_out + call.takes_dtype
    if dtypes > 2:
        return "three"
    return "autocast" if autocast != "-" and dtypes == 2 else None


def ask_table(comparison, observer, calls, autocast="-"):
    for call in calls:
        if autocast != "-" and call.name in NOT_UNDER_AUTOCAST:
            continue
        reason = sampled(call, autocast)
        dtypes = SAMPLE if reason else ALL
        if reason:
            comparison.left_out[reason] += combinations(call, ALL) - combinations(call, dtypes)
        for extra_dtype in dtypes if call.takes_out or call.takes_dtype else (None,):
            dtype, out = (extra_dtype, None) if call.takes_dtype else (None, extra_dtype)
            head = f"op {call.name} {dtype or '-'} cpu {autocast} {VERSION}" + (f" 0:{out}:dim" if out else "")
            for chosen in itertools.product(*(forms(shape, dtypes) for _, shape in call.operands)):
                silent = next(((call.name, d) for d, _, _ in chosen if (call.name, d) in operator_calls.NO_ANSWER), None)
                if silent:
                    comparison.left_out[silent] += 1
                    continue
                observed = observer.observe(call, [(d, shape) for d, shape, _ in chosen], dtype, out, autocast != "-")
                written = "".join(f" {argument}:{d}:{rank}" for (argument, _), (d, _, rank) in zip(call.operands, chosen))
                comparison.ask(call.name, head + written, observed)


def combinations(call, dtypes):
    extra = len(dtypes) if call.takes_out or call.takes_dtype else 1
    return extra * math.prod(len(list(forms(shape, dtypes))) for _, shape in call.operands)


# Operators that keep the shape (2, 2), so that any follows any. Rows of operator_calls.py tell how to call them.
CHAINED = set("neg exp log sqrt sin cos tanh sigmoid abs square floor reciprocal clone logical_not isnan add sub mul div pow "
              "maximum minimum atan2 remainder where matmul mm linear add_ mul_ sub_ div_ copy_ type_as float half bfloat16 "
              "double long transpose cumsum softmax kron_ conj eq lt copysign clamp_min softsign zeros_like".split())


def chain_steps(calls):
    return [call for call in calls if call.name in CHAINED and 0 < len(call.operands) <= 2 and not call.takes_dtype
            and call.operands[0][0] == "0" and all(shape in "rnd" for _, shape in call.operands)]


def ask_chains(comparison, observer, calls, count, seed):
    """Random chains: each result is the next operator's first operand. Ends where PyTorch throws."""
    choose, steps = random.Random(seed), chain_steps(calls)
    for _ in range(count):
        dtype = choose.choice(ALL)
        text, operand = f"chain {dtype} {VERSION}", (dtype, "d")
        for _ in range(choose.randint(2, 8)):
            call = choose.choice(steps)
            others = [choose.choice(list(forms(shape, ALL))) for _, shape in call.operands[1:]]
            result = observer.once(call, [operand] + [(d, shape) for d, shape, _ in others], "cpu")
            if result in ("gap", "other"):
                break
            text += " " + ",".join([call.name] + [f"{argument}:{d}:{rank}" for (argument, _), (d, _, rank)
                                                  in zip(call.operands[1:], others)])
            comparison.ask(call.name, text, result)
            if result == "throws":
                break
            operand = (result, "d")


def uncovered(entries, variants, comparison):
    """Entries and variants that no call asked, and reasons in NOT_CALLED that hold for no entry any more."""
    excused = {name: reason for names, reason in operator_calls.NOT_CALLED.items() for name in names.split()}
    excused.update(operator_calls.NOT_CALLED_IN.get(VERSION, {}))
    excused.update(WITHOUT_NUMPY)
    missing = [name for name in entries if name not in comparison.answered and name not in excused and in_release(name)]
    missing += [name for name in variants if name not in comparison.answered and name not in excused and has_variant(name)]
    stale = [name for names in operator_calls.NOT_CALLED for name in names.split()
             if name in comparison.answered or name not in entries + variants]
    stale += [" with ".join(key) for key in operator_calls.NO_ANSWER if not comparison.left_out[key]]
    return [f"{name}: in the table and never asked of PyTorch {VERSION}" for name in missing] + [
        f"{name}: NOT_CALLED or NO_ANSWER excuses it for nothing" for name in stale]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("predict_dtypes")
    arguments.add_argument("--chains", type=int, default=2500)
    arguments.add_argument("--seed", type=int, default=20)
    arguments.add_argument("--list", type=int, default=60)
    arguments.add_argument("--dump", help="write questions and answers to this file")
    arguments.add_argument("--only", help="names of operators, separated by commas")
    options = arguments.parse_args()
    torch.set_num_threads(1)
    entries, variants = (line.split() for line in answers(options.predict_dtypes, ["names", "variants"]))
    calls = [call for call in all_calls(set(variants)) if call.name not in WITHOUT_NUMPY]
    for name, reason in {**WITHOUT_NUMPY, **NOT_UNDER_AUTOCAST}.items():
        print(f"skipped: {name}: {reason}")
    if options.only:
        calls = [call for call in calls if call.name in options.only.split(",")]
    comparison, observer = Comparison(), Observer()
    ask_table(comparison, observer, calls)
    if not options.only:
        ask_chains(comparison, observer, calls, options.chains, options.seed)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        ask_table(comparison, observer, calls, "bfloat16")
    if options.dump:
        with open(options.dump, "w", encoding="utf-8") as file:
            file.writelines(f"{q}\t{o}\n" for q, o in zip(comparison.questions, comparison.observed))
    wrong = list(comparison.disagreements(options.predict_dtypes))
    for question, observed, predicted in wrong[:options.list]:
        print(f"{question}: PyTorch {torch.__version__} gives {observed}, the rules predict {predicted}")
    never = comparison.one_sided() + ([] if options.only else uncovered(entries, variants, comparison))
    print("\n".join(never))
    unverified, asked = sum(observer.unverified.values()) + comparison.unverified, len(comparison.questions)
    print(f"PyTorch {torch.__version__}: {len(comparison.answered)} operators and variants, {asked} cases, {len(wrong)} disagreements, "
          f"{unverified} unverified")
    reasons = {**operator_calls.SAMPLED, **operator_calls.NO_ANSWER}
    for key, reason in reasons.items():
        print(f"left out: {comparison.left_out[key]} cases, {' with '.join(key) + ': ' if isinstance(key, tuple) else ''}{reason}")
    too_many = not options.only and unverified > UNVERIFIED_SHARE * asked  # a share of all, not of a few
    if too_many:
        print(f"too many unverified: {observer.unverified.most_common(12)}")
    sys.exit(1 if wrong or never or too_many else 0)


if __name__ == "__main__":
    main()
