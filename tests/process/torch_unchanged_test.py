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
IS_LONG = os.environ.get("LONG_WAYS") == "1"


def attention_calls(report):
    return report["watched"]["calls"].get("scaled_dot_product_attention", 0)


class Unchanged(Case):
    def setUp(self):
        super().setUp()
        self.ways = LONG_WAYS if IS_LONG else WAYS
        if IS_LONG and self.execute("g++", "--version").returncode != 0:
            self.ways.remove("compile-inductor")

    def computed(self, done):
        """The lines of the job's own; others, of profiler and compiler, are on stderr."""
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_started_under_it(self):
        words = PYTHON, PROGRAM, ",".join(self.ways)
        plain = self.computed(self.execute(*words))
        self.assertEqual([line.split()[0] for line in plain], self.ways)
        for options in ("torch=origins", "torch=contracts"):
            with self.subTest(options=options):
                done, report = self.run_command(*words, options=(f"--options={options}",))
                self.assertEqual(self.computed(done), plain)
                self.assertEqual(report["findings"], [])
                self.assertGreaterEqual(attention_calls(report), 6 * len(self.ways))

    def test_joined(self):
        words = [str(word) for word in (PYTHON, PROGRAM, ",".join(self.ways), "wait")]
        plain = subprocess.run(words, env=environment(), cwd=self.scratch, input="\n", text=True, capture_output=True, timeout=LONG, check=True)
        for options in ("torch=origins", "torch=contracts"):
            with self.subTest(options=options):
                job = subprocess.Popen(words, env=environment(), cwd=self.scratch, text=True, stdin=subprocess.PIPE,
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


class Surroundings(Case):
    def computed(self, run):
        """The lines of bits; ranks write theirs in any order."""
        return sorted(line for line in run.stdout.splitlines() if re.match(r"\w+ .*[0-9a-f]{16}", line))

    def unchanged(self, *words, calls, pairs=1):
        for _ in range(pairs):
            plain = self.execute(*words)
            done, report = self.run_command(*words)
            expected, own = self.computed(plain), self.computed(done)
            self.assertTrue(expected, plain.stdout + plain.stderr)
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
                               pairs=3 if way == "ddp" else 1)

    def test_debugger(self):
        self.unchanged(PYTHON, "-m", "pdb", "-c", "continue", "-c", "quit", PROGRAM, "plain", calls=6)


if __name__ == "__main__":
    skip_without_torch()
    if not IS_LONG:
        del Surroundings
    main()
