"""Signals of a job that is joined: the borrowed thread runs into a breakpoint, and a filter may forbid what it is made to do.
The job's own handlers stay, and a signal that comes meanwhile is not lost."""
import os
import re
import signal
import subprocess
import sys

from attach_support import PauseCase, status
from support import BUILT, LONG, environment, main

HANDLES = """import signal, sys
seen = []
signal.signal(int(sys.argv[1]), signal.SIG_IGN if sys.argv[2] == "ignore" else lambda number, frame: seen.append(number))
print("ready", flush=True)
sys.stdin.read()
print("calls 0 seen", seen)
"""

# Filters itself, starts a job, and joins that with the tool: both are under the filter, so that the tool does not refuse.
# What the borrowed thread asks for first, code that is in no file, gets the answer of argv[1].
FILTERED = """import ctypes, struct, subprocess, sys
def step(code, value, yes=0, no=0): return struct.pack("HBBI", code, yes, no, value)
MMAP, CODE = 9, 5
program = b"".join([step(0x20, 0), step(0x15, MMAP, 0, 5), step(0x20, 32), step(0x15, CODE, 0, 3), step(0x20, 48),
                    step(0x15, 0xffffffff, 0, 1), step(6, int(sys.argv[1])), step(6, 0x7fff0000)])
steps = ctypes.create_string_buffer(program)
filter = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(steps)))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, filter, 0, 0) == 0
def signals():
    lines = [line.split() for line in open(f"/proc/{job.pid}/status")]
    if ["State:", "Z"] in (words[:2] for words in lines): return before  # the first thread is gone, the others run on
    return {words[0]: int(words[1], 16) & 0x7fffffff for words in lines if words[0] in ("SigCgt:", "SigIgn:", "SigBlk:")}
job = subprocess.Popen(sys.argv[sys.argv.index("--") + 1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
job.stdout.readline()
before = signals()
tool = subprocess.run([*sys.argv[2:4], str(job.pid), *sys.argv[4:sys.argv.index("--")]], capture_output=True, text=True)
if sys.argv[1] == "2147483648": job.wait()
after = signals() if job.poll() is None else before
if sys.argv[1] == "0" and job.poll() is None: job.kill()  # the thread that waits for its end is gone
output, _ = job.communicate()
assert after == before, (before, after)
print(tool.returncode, tool.stderr, "job", job.returncode, output)
"""
KILL_PROCESS, KILL_THREAD, TRAP, REFUSE = 0x80000000, 0, 0x00030000, 0x00050001


class Signals(PauseCase):
    def sets(self, job):
        """Without glibc's own signals 32 and 33, whose handlers it sets when a program starts its first thread."""
        return {name: int(status(job.pid)[name], 16) & 0x7fffffff for name in ("SigIgn", "SigCgt", "SigBlk")}

    def test_its_own_handlers_stay(self):
        for number in (signal.SIGTRAP, signal.SIGSYS, signal.SIGSEGV):
            for how in ("handle", "ignore"):
                with self.subTest(signal=number.name, how=how):
                    job = self.start(sys.executable, "-c", HANDLES, int(number), how)
                    before = self.sets(job)
                    self.assertIn("was paused for", self.tool("attach", job.pid, "--options", self.options()))
                    self.assertEqual(self.sets(job), before)
                    os.kill(job.pid, number)
                    self.until(lambda: not int(status(job.pid)["ShdPnd"], 16))  # taken by the thread, whose call it ends
                    self.assertEqual(self.finish(job), f"calls 0 seen [{int(number) if how == 'handle' else ''}]\n")

    def test_the_same_signal_comes_meanwhile(self):
        job = self.start(sys.executable, "-c", HANDLES, int(signal.SIGTRAP), "handle")
        held = self.held_attach(job)
        os.kill(job.pid, signal.SIGTRAP)
        said = held.finish()
        self.assertEqual(held.tracer.returncode, 0, said)
        self.assertEqual(self.finish(job), f"calls 0 seen [{int(signal.SIGTRAP)}]\n")

    def filtered(self, answer, *job):
        done = subprocess.run([sys.executable, "-c", FILTERED, str(answer), BUILT["command"], "attach", "--library", BUILT["library"],
                               "--options", self.options(), "--", *map(str, job)], env=environment(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=LONG, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_filter_that_kills_the_job(self):
        said = self.filtered(KILL_PROCESS, BUILT["long_job"], "k")
        self.assertRegex(said, r"^1 dtype-san: process \d+ was ended by signal 31 \(Bad system call\) while it was being joined\n")
        self.assertIn(f"job {-signal.SIGSYS}", said)

    def test_a_filter_that_kills_the_thread(self):
        said = self.filtered(KILL_THREAD, BUILT["long_job"], "k")
        self.assertRegex(said, r"^1 dtype-san: thread \d+ of process \d+ (ended|was ended by signal 31 \(Bad system call\)) while it was")
        self.assertIn("the others run on", said)

    def test_a_filter_that_refuses(self):
        for answer in (REFUSE, TRAP):
            with self.subTest(answer=answer):
                said = self.filtered(answer, BUILT["long_job"], "k")
                self.assertRegex(said, r"^1 dtype-san: thread \d+ of process \d+ could not start a helper thread; it runs on as before\n")
                self.assertTrue(re.search(r"job 0 calls [1-9]\d* refused \d+ interrupted 0", said), said)

    def test_a_filter_whose_signal_the_job_handles(self):
        said = self.filtered(TRAP, sys.executable, "-c", HANDLES, int(signal.SIGSYS), "handle")
        self.assertIn("it runs on as before", said)
        self.assertIn("job 0 calls 0 seen []", said)


if __name__ == "__main__":
    main()
