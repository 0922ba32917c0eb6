"""What comes between while a thread is borrowed, and jobs that are unlike others: the job stays as it was, or the tool says
what became of it."""
import os
import signal
import subprocess
import sys

from attach_support import PauseCase, condition, status
from support import BUILT, LONG, ask, main

FILTER = """import ctypes, struct, sys
allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(allow)))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
print("ready", flush=True)
sys.stdin.read()
"""


class Pause(PauseCase):
    def test_the_tool_is_interrupted(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(signal=number.name):
                if signal.getsignal(number) is signal.SIG_IGN:
                    self.skipTest("this test was itself started without that signal, in the background")
                job = self.start(BUILT["long_job"], "k")
                before = condition(job.pid)
                held = self.held_attach(job)
                os.kill(held.tool, number)
                held.finish()
                self.assertEqual(abs(held.tracer.returncode), number)
                self.assertEqual(condition(job.pid), before)
                self.assertIn("calls", self.finish(job))

    def test_the_job_is_stopped(self):
        job = self.start(BUILT["long_job"], "k")
        before = condition(job.pid)
        held = self.held_attach(job)
        os.kill(job.pid, signal.SIGSTOP)
        said = held.finish()
        self.assertEqual(held.tracer.returncode, 1, said)
        self.assertIn(f"process {job.pid} was stopped by a signal while it was being joined, and stays so", said)
        os.waitid(os.P_PID, job.pid, os.WSTOPPED | os.WNOWAIT)
        self.assertEqual(condition(job.pid), before)
        os.kill(job.pid, signal.SIGCONT)
        self.assertIn("calls", self.finish(job))

    def test_the_job_is_killed(self):
        job = self.start(BUILT["long_job"], "k")
        held = self.held_attach(job)
        job.kill()
        said = held.finish()
        self.assertEqual(held.tracer.returncode, 1, said)
        self.assertIn(f"process {job.pid} ", said)
        self.assertRegex(said, r"was ended by signal 9 \(Killed\)|has ended|ended while")
        self.assertNotIn("runs on", said)

    def test_a_job_under_a_filter(self):
        job = self.start(sys.executable, "-c", FILTER)
        self.assertEqual(status(job.pid)["Seccomp"], "2")
        for command in ("doctor", "attach"):
            self.assertIn("runs under a seccomp filter", self.tool(command, job.pid, status=1))
        self.finish(job)

    def test_the_same_filter_as_the_tool(self):
        """A container's."""
        code = FILTER.replace('print("ready", flush=True)', """import subprocess
job = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
job.stdin.write(b"ready")
assert job.stdout.read(5) == b"ready"
done = subprocess.run([*sys.argv[1:3], str(job.pid), *sys.argv[3:]], capture_output=True, text=True)
job.kill()
print(done.returncode, done.stdout, done.stderr)""")
        done = subprocess.run([sys.executable, "-c", code, BUILT["command"], "doctor", "--library", BUILT["library"]],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONG, check=True)
        self.assertTrue(done.stdout.startswith("0 "), done.stdout)
        self.assertIn("can be attached to", done.stdout)

    def test_the_main_thread_has_ended(self):
        job = self.start(BUILT["long_job"], "kX")
        self.until(lambda: status(job.pid)["State"].startswith("Z"))
        self.assertIn("can be attached to", self.tool("doctor", job.pid))
        self.assertIn("1 copy of flash_ref watched", self.tool("attach", job.pid, "--options", self.options()))
        self.assertEqual(ask(job), "called\n")
        self.finish(job)
        _, report = self.report(self.scratch / "journal")
        self.assertEqual([finding["rule"] for finding in report["findings"]], ["rotary-dtype-mismatch"])
        self.assertIn("long_job kX", str(report["watched"]))

    def test_a_process_that_has_ended(self):
        gone = self.ended()
        self.assertIn("has ended and waits for its parent", self.tool("attach", gone.pid, status=1))

    def test_arguments_that_a_terminal_would_obey(self):
        job = self.start(BUILT["long_job"], "s", "\x1b[31mred\nno   forged", "x" * 100_000)
        for words in (("doctor", job.pid), ("attach", job.pid, "--options", self.options())):
            said = self.tool(*words)
            self.assertNotIn("\x1b", said)
            self.assertIn(r"\x1b[31mred\x0ano", said)
            self.assertIn("xxx...", said)
            self.assertLess(max(map(len, said.splitlines())), 1000)
        self.finish(job)


if __name__ == "__main__":
    main()
