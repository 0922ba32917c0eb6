"""What doctor and attach say of the PyTorch of a running job: which it is, whether it is watched or can be, and what is not
seen of it."""
import re
import shutil
import subprocess

from support import BUILT, LONG, Case, ask, environment, main
from torch_support import PYTHON, skip_without_torch

JOB = """
import sys
for line in sys.stdin:
    exec(line)
    print("done", flush=True)
"""
ATTEND = "import torch; q = torch.ones(1, 1, 2, 8); torch.nn.functional.scaled_dot_product_attention(q, q, q)"


class Doctor(Case):
    def job(self, *lines, **changes):
        """A Python job that executes each line that it is given."""
        job = subprocess.Popen([PYTHON, "-c", JOB], env=environment(**changes), text=True, cwd=self.scratch, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        for line in lines:
            self.assertEqual(ask(job, line), "done\n")
        return job

    def tool(self, *words):
        done = self.execute(BUILT["command"], *words)
        return done.stdout + done.stderr

    def doctor(self, job):
        return self.tool("doctor", job.pid)

    def attach(self, job, options=""):
        return self.tool("attach", job.pid, "--library", BUILT["library"], "--options", f"journal={self.scratch / 'journal'}{options}")

    def version(self):
        return subprocess.run([PYTHON, "-c", "import torch; print(torch.__version__)"], env=environment(), capture_output=True, text=True,
                              timeout=LONG, check=True).stdout.strip()

    def test_before_and_after_joining(self):
        job = self.job("import torch")
        torch = rf"PyTorch {re.escape(self.version())} \('[^']*libtorch_cpu\.so[^']*'\)"
        said = self.doctor(job)
        self.assertRegex(said, rf"ok +{torch}: attention, rotary and cache operators that a contract speaks of can be watched")
        self.assertIn("of PyTorch are not seen: calls that only pybind or Triton make", said)
        said = self.attach(job)
        self.assertRegex(said, r"PyTorch is watched: calls of \d+ attention operators of PyTorch's own through \d+ jump slots")
        self.assertNotIn("0 copies of flash_ref", said)
        self.assertEqual(ask(job, ATTEND), "done\n")
        self.assertRegex(self.doctor(job), rf"ok +{torch} is watched: calls of \d+ attention operators")
        job.communicate(timeout=LONG)
        report = self.report(self.scratch / "journal")[1]
        self.assertEqual(report["watched"]["calls"]["scaled_dot_product_attention"], 1)

    def test_joined_with_the_source_off(self):
        job = self.job("import torch")
        self.assertIn("PyTorch is not watched: option torch=off", self.attach(job, ":torch=off"))
        self.assertRegex(self.doctor(job), r"note PyTorch [^ ]+ \('[^']*'\) is not watched: option torch=off")

    def test_a_job_without_pytorch(self):
        job = self.job("import json")
        self.assertNotIn("PyTorch", self.doctor(job))
        said = self.attach(job)
        self.assertNotIn("PyTorch", said)
        self.assertIn("0 copies of flash_ref watched; those that are loaded from now on will be", said)

    def test_libtorch_that_came_unseen(self):
        """By dlopen in a program that has the library: no import of torch, which would start the source."""
        folder = subprocess.run([PYTHON, "-c", "import torch, os; print(os.path.dirname(torch.__file__))"], env=environment(), text=True,
                                capture_output=True, timeout=LONG, check=True).stdout.strip()
        _, report = self.run_command(PYTHON, "-c", f"import ctypes; ctypes.CDLL('{folder}/lib/libtorch_cpu.so')")
        [source] = [one for one in report["watched"]["sources"] if one["name"] == "torch"]
        self.assertFalse(source["on"])
        self.assertIn("libtorch came into the process later than dtype-san", source["why"])

    def test_a_libtorch_without_record_functions(self):
        package = self.scratch / "torch"
        (package / "lib").mkdir(parents=True)
        (package / "version.py").write_text("__version__ = '0.4.1'\n", encoding="utf-8")
        library = package / "lib/libtorch_cpu.so"
        shutil.copy2(BUILT["kernels"], library)
        job = self.echo(LD_PRELOAD=str(library))
        said = self.doctor(job)
        self.assertIn(f"note PyTorch 0.4.1 ('{library}') does not export at::addGlobalCallback: its calls are not seen", said)
        self.assertNotIn("of PyTorch are not seen", said)


if __name__ == "__main__":
    skip_without_torch()
    main()
