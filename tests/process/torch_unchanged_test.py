"""What a training job computes is the same to the last bit under dtype-san, started with it or joined, in each way to run
one: loaders and processes, profiler, checkpoints, torch.compile, ranks, debuggers. LONG_WAYS=1 adds those that take longer."""
import os
import pathlib
import re
import socket
import subprocess

from support import BUILT, LONG, Case, environment, main
from torch_support import PYTHON, skip_without_torch

PROGRAM = pathlib.Path(BUILT["source"]) / "programs/torch_ways.py"
WAYS = ["plain", "autocast", "bfloat16", "checkpoint", "reentrant", "profiler", "faulthandler", "cache", "loader-fork", "processes-fork",
        "compile-eager", "compile-aot_eager"]
LONG_WAYS = ["loader-spawn", "loader-forkserver", "processes-spawn", "compile-inductor"]
ACCELERATE = pathlib.Path(BUILT["torch_jobs"]) / "accelerate"
ACCELERATE_CHANGES = {"PYTHONPATH": str(ACCELERATE), "PYTHONDONTWRITEBYTECODE": "1"}
ACCELERATED = ["accelerate", "accelerate-bf16"]
IS_LONG = os.environ.get("LONG_WAYS") == "1"


def attention_calls(report):
    return report["watched"]["calls"].get("scaled_dot_product_attention", 0)


class Unchanged(Case):
    changes = {}

    def setUp(self):
        super().setUp()
        self.ways = [*(LONG_WAYS if IS_LONG else WAYS)]
        if IS_LONG and self.execute("g++", "--version").returncode != 0:
            self.ways.remove("compile-inductor")

    def computed(self, done):
        """The lines of the job's own; others, of profiler and compiler, are on stderr."""
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_started_under_it(self):
        words = PYTHON, PROGRAM, ",".join(self.ways)
        plain = self.computed(self.execute(*words, **self.changes))
        self.assertEqual([line.split()[0] for line in plain], self.ways)
        for options in ("torch=origins", "torch=contracts"):
            with self.subTest(options=options):
                done, report = self.run_command(*words, options=(f"--options={options}",), **self.changes)
                self.assertEqual(self.computed(done), plain)
                self.assertEqual(report["findings"], [])
                self.assertGreaterEqual(attention_calls(report), 6 * len(self.ways))

    def test_joined(self):
        words = [str(word) for word in (PYTHON, PROGRAM, ",".join(self.ways), "wait")]
        plain = subprocess.run(words, env=environment(**self.changes), cwd=self.scratch, input="\n", text=True, capture_output=True, timeout=LONG, check=True)
        for options in ("torch=origins", "torch=contracts"):
            with self.subTest(options=options):
                job = subprocess.Popen(words, env=environment(**self.changes), cwd=self.scratch, text=True, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.addCleanup(job.communicate)
                self.addCleanup(job.kill)
                self.assertEqual(job.stdout.readline(), "ready\n")
                done = self.execute(BUILT["command"], "attach", job.pid, "--library", BUILT["library"], "--options",
                                    f"journal={self.scratch / 'journal'}:{options}")
                self.assertEqual(done.returncode, 0, done.stderr)
                said, errors = job.communicate("\n", timeout=LONG)
                self.assertEqual((job.returncode, "ready\n" + said), (0, plain.stdout), errors)
                report = self.report(self.scratch / "journal")[1]
                self.assertEqual(report["findings"], [])
                self.assertGreater(attention_calls(report), 6)
                for journal in self.journals():
                    journal.unlink()


class Accelerated(Unchanged):
    """Accelerate, as it is published."""

    changes = ACCELERATE_CHANGES

    def setUp(self):
        super().setUp()
        self.ways = ACCELERATED
        if not ACCELERATE.is_dir():
            self.skipTest(f"no {ACCELERATE}: make test sets it up, or tests/unit/rules/pytorch/torch_jobs.sh BUILD")


class Surroundings(Case):
    def computed(self, run):
        """The lines of bits; ranks write theirs in any order."""
        return sorted(line for line in run.stdout.splitlines() if re.match(r"\w+ .*[0-9a-f]{16}", line))

    def unchanged(self, *words, calls, ranks=1, pairs=1, **changes):
        for _ in range(pairs):
            plain = self.execute(*words, **changes)
            done, report = self.run_command(*words, **changes)
            expected, own = self.computed(plain), self.computed(done)
            self.assertEqual(len(expected), ranks, plain.stdout + plain.stderr)
            self.assertEqual((done.returncode, len(own)), (plain.returncode, len(expected)), done.stderr)
            self.assertEqual(report["findings"], [])
            self.assertGreaterEqual(attention_calls(report), calls)
            if own == expected:
                break
        self.assertEqual(own, expected)

    def test_two_ranks(self):
        """Of DDP in one of three pairs: over gloo it gave other bits in one of 24 runs without dtype-san."""
        for way in ("ddp", "fsdp"):
            with self.subTest(way=way), socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
                free.close()
                self.unchanged(PYTHON, "-m", "torch.distributed.run", "--nproc_per_node=2", f"--master_port={port}", PROGRAM, way, calls=2 * 6,
                               ranks=2, pairs=3 if way == "ddp" else 1)

    def test_ranks_of_accelerate(self):
        if not ACCELERATE.is_dir():
            self.skipTest(f"no {ACCELERATE}: make test sets it up, or tests/unit/rules/pytorch/torch_jobs.sh BUILD")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.unchanged(PYTHON, "-m", "torch.distributed.run", "--nproc_per_node=2", f"--master_port={port}", PROGRAM, "accelerate", calls=2 * 2,
                       ranks=2, pairs=3, **ACCELERATE_CHANGES)

    def test_debugger(self):
        self.unchanged(PYTHON, "-m", "pdb", "-c", "continue", "-c", "quit", PROGRAM, "plain", calls=6)


if __name__ == "__main__":
    skip_without_torch()
    if IS_LONG:
        del Accelerated
    else:
        del Surroundings
    main()
