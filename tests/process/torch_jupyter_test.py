"""A Jupyter kernel that a job starts is followed by `run`, and one that runs is joined: its calls are counted, a wrong one is
reported at its line in the cell, and what the cells print is as without dtype-san."""
import json
import pathlib
import subprocess
import sys

from support import BUILT, LONG, Case, environment, main
from torch_support import PYTHON, skip_without_torch

PROGRAM = pathlib.Path(BUILT["source"]) / "programs/torch_kernel.py"
PACKAGES = pathlib.Path(BUILT["torch_jobs"]) / "jupyter"
START = "import torch\nfrom torch.nn.functional import scaled_dot_product_attention as attend\nq = torch.ones(1, 1, 2, 8)"
CALL = "print(attend(q, q, q).sum().item())"
WRONG = "k = q.bfloat16()\nk = k * torch.ones(8)\nattend(k, q.bfloat16(), q.bfloat16())"


class Jupyter(Case):
    def changes(self, **more):
        folders = {name: str(self.scratch / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
        return {"PYTHONPATH": str(PACKAGES), "PYTHONDONTWRITEBYTECODE": "1", "JUPYTER_PLATFORM_DIRS": "1", "OMP_NUM_THREADS": "1", **folders, **more}

    def both(self, *cells, **more):
        """Without and with dtype-san: the same is printed."""
        plain = self.execute(PYTHON, PROGRAM, *cells, **self.changes(**more))
        done, report = self.run_command(PYTHON, PROGRAM, *cells, **self.changes(**more))
        self.assertEqual(plain.returncode, 0, plain.stderr)
        self.assertEqual(done.stdout, plain.stdout, done.stderr)
        return done, report

    def calls(self, report):
        return report["watched"]["calls"].get("scaled_dot_product_attention", 0)

    def test_a_kernel_that_ends(self):
        done, report = self.both(START, CALL, CALL, CALL)
        self.assertEqual((done.stdout, done.returncode), ("16.0\n" * 3, 0), done.stderr)
        self.assertEqual((self.calls(report), report["findings"]), (3, []))
        self.assertTrue(all(process["complete"] for process in report["watched"]["processes"]))

    def test_a_kernel_that_a_signal_ends(self):
        """As clients end one that does not go in time: what it called is counted up to a power of two, and the report says that
        there may have been more."""
        done, report = self.both(START, *[CALL] * 5, KERNEL_IS_KILLED="1")
        self.assertEqual((self.calls(report), done.returncode), (4, 0), done.stderr)
        self.assertIn("a process ended without a closing record: calls and findings may be missing", done.stderr)
        self.assertEqual([process["complete"] for process in report["watched"]["processes"]].count(False), 1)

    def test_a_wrong_call_in_a_cell(self):
        done, report = self.both(START, WRONG)
        self.assertEqual(done.stdout, "RuntimeError\n")
        [finding] = report["findings"]
        self.assertEqual(finding["rule"], "attention-mixed-dtypes")
        self.assertEqual((finding["location"]["line"], finding["location"]["function"]), (2, "<module>"))
        self.assertIn("ipykernel_", finding["location"]["file"])

    def test_a_kernel_that_is_joined(self):
        job = subprocess.Popen([str(word) for word in (PYTHON, PROGRAM, START, CALL, "wait", CALL, CALL)], env=environment(**self.changes()),
                               cwd=self.scratch, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        self.assertEqual(job.stdout.readline(), "16.0\n")
        kernel = json.loads(job.stdout.readline())["kernel"]
        attached = self.execute(BUILT["command"], "attach", kernel, "--library", BUILT["library"], "--options",
                                f"journal={self.scratch / 'journal'}:torch=origins")
        self.assertEqual(attached.returncode, 0, attached.stderr)
        said, errors = job.communicate("\n", timeout=LONG)
        self.assertEqual((said, job.returncode), ("16.0\n" * 2, 0), errors)
        self.assertEqual(self.calls(self.report(self.scratch / "journal")[1]), 2)


if __name__ == "__main__":
    skip_without_torch()
    if not PACKAGES.is_dir():
        print(f"skipped: no {PACKAGES}; make test sets it up, or tests/unit/rules/pytorch/torch_jobs.sh BUILD")
        sys.exit(77)
    main()
