"""PyTorch jobs that are joined and left while they train, fork data loader workers and run autograd on two threads: none
hangs, none crashes, and what they compute is the same to the last bit. ROUNDS in the environment says how many (20)."""
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

from support import BUILT, LONG, Case, environment, main
from torch_support import PYTHON, skip_without_torch

PROGRAMS = pathlib.Path(BUILT["source"]) / "programs"
ROUNDS = int(os.environ.get("ROUNDS", "20"))
HANGS = 120  # seconds after which a job that was told to stop hangs


class Jobs:
    """A program that starts job after job (programs/torch_training.py)."""

    def __init__(self, case):
        self.case = case
        self.errors = open(case.scratch / "errors", "w+", encoding="utf-8")
        self.zygote = subprocess.Popen([PYTHON, PROGRAMS / "torch_training.py"], env=environment(), text=True, cwd=case.scratch,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)
        case.addCleanup(self.errors.close)
        case.addCleanup(self.zygote.communicate)
        case.addCleanup(self.zygote.kill)

    def answer(self, seconds):
        """A line; a program that gives none in time hangs."""
        watch = threading.Timer(seconds, self.zygote.kill)
        watch.start()
        line = self.zygote.stdout.readline()
        watch.cancel()
        self.errors.flush()
        self.errors.seek(0)
        self.case.assertTrue(line, f"the job hangs or has ended; {self.errors.read()}")
        return line.split()

    def start(self, way, stop):
        self.zygote.stdin.write(f"{way} {stop}\n")
        self.zygote.stdin.flush()
        word, process = self.answer(LONG)
        self.case.assertEqual(word, "ready")
        return process

    def end(self, stop):
        """Exit status and digest."""
        stop.touch()
        digest, word, status = self.answer(HANGS)
        self.case.assertEqual(word, "ended", digest)
        stop.unlink()
        return digest, int(status)


class Joined(Case):
    def tool(self, *words):
        done = self.execute(BUILT["command"], *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def attach(self, process):
        return self.tool("attach", process, "--library", BUILT["library"], "--options", f"journal={self.scratch / 'journal'}")

    def test_rounds(self):
        """Some spawn their workers, which takes a second for each."""
        jobs, stop = Jobs(self), self.scratch / "stop"
        jobs.start("fork", stop)
        expected = jobs.end(stop)
        self.assertEqual(expected[1], 0)
        pauses, calls = [], 0
        for number in range(ROUNDS):
            way = "spawn" if number % 20 == 19 else "fork"
            process = jobs.start(way, stop)
            said = self.attach(process)
            pauses.append(float(re.search(r"paused for ([0-9.]+) ms", said)[1]))
            time.sleep(0.05 * (number % 4))
            self.assertIn("is now not watched", self.tool("detach", process))
            self.assertIn("switched on", self.attach(process))
            self.assertEqual(jobs.end(stop), expected, f"round {number}, workers by {way}")
            report = self.report("--options=symbolize=0", self.scratch / "journal")[1]
            self.assertEqual(report["findings"], [])
            calls += sum(count for api, count in report["watched"]["calls"].items() if api == "scaled_dot_product_attention")
            for journal in self.journals():
                journal.unlink()
        self.assertGreater(calls, ROUNDS)
        pauses.sort()
        print(f"{ROUNDS} jobs joined, left and joined again: none hung, none crashed; {calls} calls of attention checked; pause: median "
              f"{pauses[len(pauses) // 2]:.1f} ms, longest {pauses[-1]:.1f} ms; load {os.getloadavg()[0]:.0f} on {os.cpu_count()} processors")


if __name__ == "__main__":
    skip_without_torch()
    main()
