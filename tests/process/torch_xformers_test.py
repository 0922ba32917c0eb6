"""xFormers itself, without a GPU: calls of its autograd Function are checked before its own Python code refuses them. Where no gradient
is wanted it refuses them before any record, and nothing is seen."""
import pathlib

from support import BUILT, Case, main, marked_line, operands
from torch_support import PYTHON, skip_without_torch

PROGRAM = pathlib.Path(BUILT["source"]) / "programs" / "torch_xformers.py"
PACKAGE = pathlib.Path(BUILT["torch_jobs"]) / "xformers"
FLOAT, LOW = "float32", "bfloat16"


class Xformers(Case):
    def test_calls(self):
        if not PACKAGE.is_dir():
            self.skipTest(f"no {PACKAGE}: make test sets it up, or tests/unit/rules/pytorch/torch_jobs.sh BUILD")
        changes = {"PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1"}
        plain = self.execute(PYTHON, "-W", "ignore", PROGRAM, **changes)
        done, report = self.run_command(PYTHON, "-W", "ignore", PROGRAM, **changes)
        self.assertEqual((done.returncode, done.stdout), (0, plain.stdout), done.stderr)
        self.assertEqual([line.split()[1] for line in done.stdout.splitlines()], ["NotImplementedError"] * 2 + ["ValueError"] * 3)
        found = {finding["location"]["line"]: (finding["rule"], finding["api"], operands(finding)) for finding in report["findings"]}
        self.assertEqual(found, {
            marked_line(PROGRAM.name, "wide_q"): ("attention-mixed-dtypes", "memory_efficient_attention", {"q": FLOAT, "k": LOW, "v": LOW}),
            marked_line(PROGRAM.name, "wide_k"): ("attention-mixed-dtypes", "memory_efficient_attention", {"q": LOW, "k": FLOAT, "v": LOW})})
        self.assertEqual(report["watched"]["calls"]["memory_efficient_attention"], 4)


if __name__ == "__main__":
    skip_without_torch()
    main()
