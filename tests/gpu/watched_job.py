"""What the cases on a GPU share (cupti/cases.py, torch/cases.py): a job without and with dtype-san, and its report.

PYTHON names an interpreter with PyTorch for CUDA (default: this one), OUT a folder for what is recorded (default: BUILD/gpu).
DRY_RUN=1 runs a case that knows how on the CPU, so that all but the GPU is tried.
"""
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time


class Skip(Exception):
    """Why a case cannot be tried here."""


class Wrong(Exception):
    """What does not hold."""


failures = []


def check(holds, what):
    if not holds:
        raise Wrong(what)
    print(f"  holds: {what}", flush=True)


def expect(holds, what):
    """A check after which the case goes on."""
    print(f"  {'holds' if holds else 'FAILED'}: {what}", flush=True)
    if not holds:
        failures.append(what)


def gpu():
    asked = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True,
                           text=True, check=False)
    return asked.stdout.strip().splitlines()[0] if asked.returncode == 0 and asked.stdout else "an unknown GPU"


def source_of(report, name):
    [source] = [source for source in report["watched"]["sources"] if source["name"] == name]
    print(f"  {name}: {'on' if source['on'] else 'off'}, {source['why']}")
    return source


def rules(report):
    return [finding["rule"] for finding in report["findings"]]


class Bench:
    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()
        self.command = self.build / "bin" / "dtype-san"
        self.python = os.environ.get("PYTHON", sys.executable)
        self.out = pathlib.Path(os.environ.get("OUT", self.build / "gpu"))
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="dtype-san-gpu-"))
        self.is_dry = os.environ.get("DRY_RUN") == "1"
        self.journal = None
        self.seconds = {"without": [], "with": []}  # of each run, the report included

    def require(self):
        if not self.command.is_file():
            raise Wrong(f"'{self.command}' is not there: give the folder that dtype-san was built in")
        if not self.is_dry and not pathlib.Path("/proc/driver/nvidia").exists():
            raise Skip("this machine has no NVIDIA driver (/proc/driver/nvidia)")
        asked = subprocess.run([self.python, "-c", "import torch; print(torch.__version__, torch.cuda.is_available())"],
                               capture_output=True, text=True, check=False)
        if asked.returncode != 0:
            raise Skip(f"'{self.python}' has no PyTorch: {asked.stderr.strip().splitlines()[-1]}")
        if not self.is_dry and not asked.stdout.strip().endswith("True"):
            raise Skip(f"PyTorch {asked.stdout.split()[0]} of '{self.python}' finds no GPU")
        print(f"  PyTorch {asked.stdout.split()[0]}, {'DRY RUN on the CPU' if self.is_dry else gpu()}")

    def timed(self, how, words, changes):
        start = time.monotonic()
        done = subprocess.run(words, env={**os.environ, **changes}, capture_output=True, text=True, check=False)
        self.seconds[how].append(time.monotonic() - start)
        return done

    def run(self, *words, **changes):
        """A Python program without dtype-san."""
        return self.succeeded(self.timed("without", [self.python, *words], changes), "without dtype-san")

    def run_watched(self, *words, options="", **changes):
        """The program under `dtype-san run`, and the report."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.scratch))
        journal, report = folder / "journal", folder / "report.json"
        self.journal = journal
        done = self.timed("with", [self.command, "run", f"--format=json={report}", "--journal", journal, "--options", options, "--",
                                   self.python, *words], changes)
        self.succeeded(done, "under dtype-san")
        return done, json.loads(report.read_text(encoding="utf-8"))

    @staticmethod
    def together(jobs):
        """What functions give, in their order; four run at a time."""
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return [running.result() for running in [pool.submit(job) for job in jobs]]

    @staticmethod
    def succeeded(done, how):
        if done.returncode != 0:
            raise Wrong(f"status {done.returncode} {how}: {done.stderr[-2000:]}")
        return done

    @staticmethod
    def answer(done):
        """The line of JSON with which a program ends."""
        return json.loads(done.stdout.splitlines()[-1])

    def kernels(self):
        """The kernels that the last watched program launched."""
        names = ("time", "runs", "call", "kind", "backend", "library", "api", "confidence", "roles", "name")
        journals = sorted(self.journal.glob("*.dtype-san"))
        done = subprocess.run([self.build / "bin" / "gpu_kernel_names", *journals], capture_output=True, text=True, check=True)
        return [dict(zip(names, line.split("\t"))) for line in done.stdout.splitlines()]


def keep_to(count):
    """This process, and those that it starts, to a few processors: what they spend varies less."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-count:])


class Conversation:
    """A program that answers line by line."""

    def __init__(self, *words, **changes):
        self.process = subprocess.Popen(words, env={**os.environ, **changes}, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise Wrong(f"the program has ended: {self.process.communicate()[1][-1500:]}")
        return json.loads(line)

    def ask(self, line=""):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self.answer()

    def end(self):
        self.process.communicate()
        return self.process.returncode


def run_case(title, cases, kind, arguments):
    """`SCRIPT CASE BUILD`. Status 0: it holds, 1: it does not, 77: it could not be tried, with the reason."""
    if len(arguments) != 3 or arguments[1] not in cases:
        print(f"usage: {arguments[0]} {'|'.join(cases)} BUILD", file=sys.stderr)
        return 2
    bench = kind(arguments[2])
    print(f"{title}, {arguments[1]}:")
    try:
        bench.require()
        cases[arguments[1]](bench)
    except Skip as reason:
        print(f"  skipped: {reason}")
        return 77
    except Wrong as what:
        print(f"  FAILED: {what}")
        return 1
    finally:
        shutil.rmtree(bench.scratch, ignore_errors=True)
        for how, seconds in bench.seconds.items():
            print(f"  {len(seconds)} runs {how} dtype-san: {sum(seconds):.1f} s")
    return 1 if failures else 0
