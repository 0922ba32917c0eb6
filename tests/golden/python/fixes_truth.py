"""Writes what --fix makes of each case's wrong twin, and of the examples, and runs it with PyTorch: where nothing is left to
report no call refuses what it gets, in no setting is refused what was not before, and what is wide on purpose (normalisations,
softmax, sums, losses) gets operands as wide as before, line by line, or as the case's right twin has them.

    fixes_truth.py DTYPE_LINT [NAME...]      exits with 77 (skipped) where PyTorch is too old or missing

`# fixed: yes` in a case says that --fix leaves nothing of it, `# fixed: no` that nothing may be offered.
"""
import pathlib
import subprocess
import sys
import tempfile

import truth
import torch
from torch.overrides import TorchFunctionMode
from twins import EXAMPLES, HERE, SETTINGS, cases

LINT = sys.argv[1]
LEAST_SHARE = 0.5
# By what they are called; with a trailing underscore as well.
PRECISE = {"softmax", "log_softmax", "softmin", "logsumexp", "normalize", "norm", "vector_norm", "layer_norm", "rms_norm", "group_norm",
           "batch_norm", "instance_norm", "cosine_similarity", "cdist", "sum", "mean", "var", "std", "prod", "cumsum", "cumprod",
           "logcumsumexp", "rsqrt", "pow", "exp", "log", "reciprocal", "cross_entropy", "nll_loss", "mse_loss", "kl_div", "sin", "cos"}
WIDTHS = {torch.float16: 16, torch.bfloat16: 16, torch.float32: 32, torch.float64: 64}


class Fixed:
    """A case whose wrong twin is another text."""

    def __init__(self, case, text):
        self.path, self.run, self.said, self.text = case.path, case.run, case.said, text

    def twin(self, _which):
        return self.text


class WatchWidths(TorchFunctionMode):
    """The narrowest operand that each line of the case hands an operator which is wide on purpose."""

    def __init__(self, path):
        super().__init__()
        self.path, self.widths = str(path), {}

    def line(self):
        frame = sys._getframe()
        while frame and frame.f_code.co_filename != self.path:
            frame = frame.f_back
        return frame.f_lineno if frame else 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "").rstrip("_")
        widths = [WIDTHS[each.dtype] for each in (*args, *(kwargs or {}).values())
                  if isinstance(each, torch.Tensor) and each.dtype in WIDTHS]
        if name in PRECISE and widths:
            at = self.line(), name
            self.widths[at] = min(self.widths.get(at, 64), *widths)
        return function(*args, **(kwargs or {}))


def run_with(case, text, setting):
    watch = WatchWidths(case.path)
    with watch:
        refused = truth.broken_under(Fixed(case, text), "bad", setting)
    return set(refused), watch.widths


def options_of(case):
    options = [f"--torch={case.said('torch', False)}"] if case.said("torch", False) else []
    options += [f"--library={each}" for each in case.said("library", False).split() if not each.startswith("torch=")]
    if case.said("packages", False):
        options.append(f"--python={HERE / case.said('packages')}")
    if not any("fp32-buffers" in each or "autocast" in each for each in case.breaks):
        options.append("--precision=" + ",".join(case.breaks))
    return options


def fixed(case):
    """The text as --fix leaves it, and whether anything is left."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"{case.path.stem}.py"
        path.write_text(case.twin("bad"), encoding="utf-8")
        run = subprocess.run([LINT, "--no-cache", "--quiet", "--root", folder, "--fix", *options_of(case), path],
                             capture_output=True, text=True, check=False)
        assert run.returncode in (0, 1), f"{case.name}: exit status {run.returncode}\n{run.stdout}{run.stderr}"
        return path.read_text(encoding="utf-8"), run.returncode == 1


def shown(before, after):
    return "".join(f"\n    {number}: {b.strip()}" for number, (a, b) in
                   enumerate(zip(before.splitlines(), after.splitlines()), 1) if a != b)


def wrong_in(case, before, after, left):
    out = []
    for setting in SETTINGS:
        refused_before, widths_before = run_with(case, before, setting)
        refused, widths = run_with(case, after, setting)
        _, widths_right = run_with(case, case.twin("ok"), setting)
        if refused and (not left or not refused <= refused_before):
            out.append(f"{case.name} {setting}: refused with the fix: {refused}")
        out += [f"{case.name} {setting}: line {line}: '{name}' got {widths_before[line, name]} bits, with the fix {width}"
                for (line, name), width in sorted(widths.items())
                if width < min(widths_before.get((line, name), 0), widths_right.get((line, name), 64))]
    return out


def main():
    wrong, whole, found = [], 0, 0
    for case in [*cases(sys.argv[2:]), *(each for each in EXAMPLES if not sys.argv[2:] or any(one in each.name for one in sys.argv[2:]))]:
        if case.missed or not case.breaks:
            continue
        before = case.twin("bad")
        after, left = fixed(case)
        found += 1
        whole += not left
        said = case.said("fixed", False)
        if said == "yes" and left or said == "no" and after != before:
            wrong.append(f"{case.name}: fixed: {said}, and --fix {'leaves a finding' if left else 'changes it'}{shown(before, after)}")
        try:
            got = wrong_in(case, before, after, left) if after != before else []
        except Exception as error:
            got = [f"{case.name}: {type(error).__name__}: {error}"]
        wrong += [each + shown(before, after) for each in got]
    print("\n".join(wrong) or f"{whole} of {found} cases are right with what --fix makes of them")
    if not sys.argv[2:] and whole < LEAST_SHARE * found:
        wrong.append(f"--fix cures {whole} of {found} cases")
        print(wrong[-1])
    sys.exit(1 if wrong else 0)


main()
