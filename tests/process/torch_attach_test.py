"""PyTorch jobs that are joined and left while they train, fork data loader workers and run autograd on two threads: none
hangs, none crashes, and what they compute is the same to the last bit. ROUNDS in the environment says how many (20)."""
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

from support import BUILT, Case, environment, main
from torch_support import PYTHON, skip_without_torch
from waiting import line_of, what_waits

PROGRAMS = pathlib.Path(BUILT["source"]) / "programs"
ROUNDS = int(os.environ.get("ROUNDS", "20"))
REFUSED_ROUNDS = 12
STARTS = 300  # seconds after which a job hangs that was to begin
HANGS = 120  # that was told to stop
LIMIT = 28 * ROUNDS + 240  # for all, within that of CTest


class Jobs:
    """A program that starts job after job (programs/torch_training.py). It, they and their workers are one process group, whose
    end is the end of each wait here."""

    def __init__(self, case):
        self.case, self.step = case, "starting"
        self.errors = open(case.scratch / "errors", "w+", encoding="utf-8")
        self.zygote = subprocess.Popen([PYTHON, PROGRAMS / "torch_training.py"], env=environment(), cwd=case.scratch, bufsize=0,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, start_new_session=True)
        self.waiting = ""
        self.watch = threading.Timer(LIMIT, self.give_up)
        self.watch.daemon = True
        self.watch.start()
        case.addCleanup(self.errors.close)
        case.addCleanup(self.zygote.communicate)
        case.addCleanup(self.kill)
        case.addCleanup(self.watch.cancel)

    def kill(self):
        try:
            os.killpg(self.zygote.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def give_up(self):
        self.waiting = what_waits(self.zygote.pid)
        print(f"{self.step}: {LIMIT} s are over\n{self.waiting}", flush=True)
        self.kill()

    def said(self):
        self.errors.flush()
        self.errors.seek(0)
        return self.errors.read()

    def answer(self, seconds):
        """A line; a program that gives none in time hangs."""
        line = line_of(self.zygote.stdout, seconds)
        if line is None:
            waiting = self.waiting or what_waits(self.zygote.pid)
            self.kill()
            self.case.fail(f"{self.step}: the job hangs or has ended\n{waiting}\n{self.said()}")
        return line.split()

    def start(self, way, stop):
        """Its process."""
        self.zygote.stdin.write(f"{way} {stop}\n".encode())
        word, process = self.answer(STARTS)
        self.case.assertEqual(word, "ready", f"{self.step}: the job ended with status {process} before it was joined\n{self.said()}")
        return process

    def end(self, stop, seconds=HANGS):
        """Exit status and digest."""
        stop.touch()
        digest, word, status = self.answer(seconds)
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
            jobs.step = f"round {number}, workers by {way}: starting"
            process = jobs.start(way, stop)
            jobs.step = f"round {number}, workers by {way}, process {process}: joining and leaving it"
            said = self.attach(process)
            pauses.append(float(re.search(r"paused for ([0-9.]+) ms", said)[1]))
            time.sleep(0.05 * (number % 4))
            self.assertIn("is now not watched", self.tool("detach", process))
            self.assertIn("switched on", self.attach(process))
            jobs.step = f"round {number}, workers by {way}, process {process}: waiting for its end"
            self.assertEqual(jobs.end(stop), expected, jobs.step)
            report = self.report("--options=symbolize=0", self.scratch / "journal")[1]
            self.assertEqual(report["findings"], [])
            calls += sum(count for api, count in report["watched"]["calls"].items() if api == "scaled_dot_product_attention")
            for journal in self.journals():
                journal.unlink()
        self.assertGreater(calls, ROUNDS)
        pauses.sort()
        print(f"{ROUNDS} jobs joined, left and joined again: none hung, none crashed; {calls} calls of attention checked; pause: median "
              f"{pauses[len(pauses) // 2]:.1f} ms, longest {pauses[-1]:.1f} ms; load {os.getloadavg()[0]:.0f} on {os.cpu_count()} processors")

    def test_refused_calls(self):
        """Threads that call attention while it is being watched find all there that a finding needs."""
        jobs, stop = Jobs(self), self.scratch / "stop"
        lines = set()
        for number in range(REFUSED_ROUNDS):
            jobs.step = f"round {number}: joining threads whose calls are refused"
            process = jobs.start("refused", stop)
            self.attach(process)
            time.sleep(0.05 * (number % 3))
            self.assertEqual(jobs.end(stop), ("none", 0), f"{jobs.step}\n{jobs.said()}")
            report = self.report("--options=symbolize=0", self.scratch / "journal")[1]
            lines |= {each["sinks"][0]["function"] for each in report["findings"]}
            for journal in self.journals():
                journal.unlink()
        self.assertEqual(lines, {"refused"})

    def test_a_job_that_hangs(self):
        """It is told, with the step and what it waits for, and ends: a test that waits for ever tells nothing."""
        jobs, stop = Jobs(self), self.scratch / "stop"
        process = jobs.start("fork", stop)
        os.kill(int(process), signal.SIGSTOP)
        jobs.step = "the last step"
        with self.assertRaises(AssertionError) as raised:
            jobs.end(stop, seconds=1)
        said = str(raised.exception)
        self.assertIn("the last step: the job hangs", said)
        self.assertRegex(said, rf"{process} .*torch_training.py")
        self.assertRegex(said, r"\d+ T ")
        self.assertRegex(said, r'File ".*torch_training.py", line \d+ in main')
        jobs.zygote.communicate()


if __name__ == "__main__":
    skip_without_torch()
    main()
