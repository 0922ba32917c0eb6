"""Attaches that are killed or interrupted half-way, and such as meet each other: the job runs on, and the next attach and
doctor say what is true."""
import os
import pathlib
import re
import signal
import subprocess
import sys

from attach_support import PauseCase, condition
from support import BUILT, LONG, ask, environment, main


def helper_threads(job):
    names = [entry.read_text(encoding="utf-8") for entry in pathlib.Path(f"/proc/{job.pid}/task").glob("*/comm")]
    return [name for name in names if name.startswith("dts")]


class Ended(PauseCase):
    def killed_in_the_pause(self, job, number=signal.SIGKILL):
        """Returns once the child of the tool has put the thread back."""
        held = self.held_attach(job)
        os.kill(held.tool, number)
        held.finish()

    def found(self, job):
        self.assertEqual(ask(job), "called\n")
        self.assertIn("calls", self.finish(job))
        _, report = self.report(self.scratch / "journal")
        return report

    def test_killed_and_taken_up_by_the_next(self):
        job = self.start(BUILT["long_job"], "k")
        before = condition(job.pid)
        self.killed_in_the_pause(job)
        self.assertEqual(condition(job.pid), before)
        self.until(lambda: helper_threads(job))
        self.assertEqual(len(helper_threads(job)), 1)
        self.assertIn(f"an attach of it was ended in the middle: 'dtype-san attach {job.pid}' finishes it", self.tool("doctor", job.pid))
        self.assertEqual(self.journals(), [])
        said = self.tool("attach", job.pid, "--options", f"journal={self.scratch / 'other'}:verbosity=0")
        self.assertIn("finished what an attach had begun that was ended; no thread was paused now", said)
        self.assertIn("1 copy of flash_ref watched", said)
        self.assertIn(f"journal {self.scratch / 'other'}/", said)  # the options of this one, not of the one that was killed
        self.assertIn("has the library already; it is being watched", self.tool("attach", job.pid, "--options", self.options()))
        self.assertIn("calls", self.finish(job))
        _, report = self.report(self.scratch / "other")
        self.assertEqual([finding["rule"] for finding in report["findings"]], ["rotary-dtype-mismatch"])

    def test_killed_and_left_alone(self):
        job = self.start(BUILT["long_job"], "mk")
        before = condition(job.pid)
        self.killed_in_the_pause(job)
        self.until(lambda: helper_threads(job))
        self.until(lambda: not helper_threads(job))  # it gives up
        self.assertEqual(condition(job.pid), before)
        self.assertNotIn("libdtype_san", pathlib.Path(f"/proc/{job.pid}/maps").read_text(encoding="utf-8"))
        self.assertIn("can be attached to", self.tool("doctor", job.pid))
        self.assertIn("was paused for", self.tool("attach", job.pid, "--options", self.options()))
        self.assertEqual([finding["rule"] for finding in self.found(job)["findings"]], ["rotary-dtype-mismatch"])

    def test_interrupted_while_the_library_is_loaded(self):
        """The tool is gone, but what it has begun takes effect: the next one finds that."""
        job = self.start(BUILT["long_job"], "k")
        self.killed_in_the_pause(job, signal.SIGINT)
        self.tool("attach", job.pid, "--options", self.options())
        self.assertIn("has the library already", self.tool("attach", job.pid, "--options", self.options()))
        self.assertEqual(len(self.found(job)["watched"]["processes"]), 1)

    def test_stopped_in_the_pause(self):
        """As by Ctrl-Z: the job does not wait for the tool."""
        job = self.start(BUILT["long_job"], "k")
        before = condition(job.pid)
        held = self.held_attach(job)
        os.kill(held.tool, signal.SIGSTOP)
        self.until(lambda: f"\n{held.tool} --- stopped by SIGSTOP" in re.sub(" +", " ", held.said()))
        held.go_on()
        self.until(lambda: "PTRACE_DETACH" in held.said() and condition(job.pid) == before)
        os.kill(held.tool, signal.SIGCONT)
        said = held.finish()
        self.assertEqual(held.tracer.returncode, 0, said)
        self.assertIn("1 copy of flash_ref watched", said)
        self.finish(job)

    def test_signals_that_it_ignores(self):
        """As under nohup, or in the background of a script."""
        job = self.start(BUILT["long_job"], "k")
        held = self.held_attach(job, ignored=(signal.SIGHUP, signal.SIGINT))
        for number in (signal.SIGHUP, signal.SIGINT):
            os.kill(held.tool, number)
        said = held.finish()
        self.assertEqual(held.tracer.returncode, 0, said)
        self.assertIn("1 copy of flash_ref watched", said)
        self.finish(job)

    def test_several_at_once(self):
        for kinds in ("k", "mdfek"):
            with self.subTest(kinds=kinds):
                job = self.start(BUILT["long_job"], kinds)
                command = [BUILT["command"], "attach", str(job.pid), "--library", BUILT["library"], "--options", self.options()]
                tools = [subprocess.Popen(command, env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                         for _ in range(5)]
                said = [tool.communicate(timeout=LONG)[1] for tool in tools]
                self.assertEqual([tool.returncode for tool in tools], [0] * 5, said)
                self.assertEqual(sum("was paused for" in text for text in said), 1, said)
                self.assertEqual(sum("has the library already; it is being watched" in text for text in said), 4, said)
                self.assertFalse([text for text in said if "0 copies" in text], said)
                report = self.found(job)
                self.assertEqual(len(report["watched"]["processes"]), 1)
                for journal in self.journals():
                    journal.unlink()

    def test_one_that_waits_says_so(self):
        job = self.start(BUILT["long_job"], "k")
        held = self.held_attach(job)
        self.assertRegex(self.tool("doctor", job.pid), rf"another dtype-san \(process \d+\) is joining process {job.pid} at this moment")
        waiting = subprocess.Popen([BUILT["command"], "attach", str(job.pid), "--library", BUILT["library"], "--options", self.options()],
                                   env=environment(), text=True, stderr=subprocess.PIPE)
        self.assertRegex(waiting.stderr.readline(), rf"another dtype-san \(process \d+\) is joining process {job.pid}: waiting for it")
        held.finish()
        self.assertEqual(held.tracer.returncode, 0)
        self.assertIn("has the library already; it is being watched", waiting.communicate(timeout=LONG)[1])
        self.assertEqual(waiting.returncode, 0)
        self.finish(job)

    def test_a_joined_job_that_ends_by_a_signal(self):
        """Its counts are those of the last power of two; the report says so, and that exec may have followed."""
        job = self.start(BUILT["long_job"], "k")
        self.tool("attach", job.pid, "--options", self.options())
        self.assertEqual(ask(job), "called\n")
        job.kill()
        job.wait()
        shown, report = self.report(self.scratch / "journal")
        [process] = report["watched"]["processes"]
        self.assertEqual((process["joined"], process["complete"]), (True, False))
        self.assertIn("(joined while it ran) (no closing record: it runs on, or ended by a signal, or by an _exit or exec that was "
                      "not seen. Counts may be low, and what it became by exec was not watched)", shown.stdout)

    def test_a_joined_job_that_ends_at_once(self):
        """_exit and exec write the final counts there too, though the job had bound them before."""
        for kinds, became in (("kq", ""), ("kx", "/bin/true")):
            with self.subTest(kinds=kinds):
                job = self.start(BUILT["long_job"], kinds)
                self.tool("attach", job.pid, "--options", self.options())
                self.assertEqual(ask(job), "called\n")
                self.finish(job)
                _, report = self.report(self.scratch / "journal")
                [process] = report["watched"]["processes"]
                self.assertEqual((process["joined"], process["complete"], process["replaced_by"]), (True, True, became))
                [finding] = report["findings"]
                self.assertEqual(finding["count"], report["watched"]["calls"]["flash_ref_rotary"])
                for journal in self.journals():
                    journal.unlink()

    def test_programs_that_a_joined_job_starts(self):
        """They are not watched: the environment of a running job is not changed. Their number is noted."""
        program = ("import ctypes, os, subprocess, sys\n"
                   "print('ready', flush=True)\n"
                   "sys.stdin.read()\n"
                   "os.posix_spawn('/bin/true', ['true'], os.environ)\n"
                   "os.wait()\n"
                   "subprocess.run(['/bin/true'], close_fds=False, check=True)\n"
                   "child = os.fork()\n"
                   "os.execv('/bin/true', ['true']) if child == 0 else os.wait()\n")
        job = self.start(sys.executable, "-c", program)
        self.tool("attach", job.pid, "--options", self.options())
        self.finish(job)
        _, report = self.report(self.scratch / "journal")
        self.assertRegex(" ".join(entry["detail"] for entry in report["not_analysed"]),
                         "3 children became another program by exec without libdtype_san.so")

    def test_a_joined_job_that_ends_by_exit(self):
        job = self.start(BUILT["long_job"], "k")
        self.tool("attach", job.pid, "--options", self.options())
        self.finish(job)
        shown, report = self.report(self.scratch / "journal")
        [process] = report["watched"]["processes"]
        self.assertEqual((process["joined"], process["complete"]), (True, True))
        self.assertIn("long_job k (joined while it ran)\n", shown.stdout)


if __name__ == "__main__":
    main()
