"""Jobs that are joined while they run, switched, left again, and those that cannot be."""
import ctypes
import os
import re
import signal
import struct
import subprocess
import sys

from support import BUILT, LONG, Case, ask, environment, main, operands

SCHED_GETATTR = {"x86_64": 315, "aarch64": 275}[os.uname().machine]
SUMMARY = re.compile(r"calls (\d+) refused (\d+) interrupted (\d+)")


class Joining(Case):
    def start(self, *words, **changes):
        job = subprocess.Popen([str(word) for word in words], env=environment(**changes), cwd=self.scratch, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end, job)
        self.assertEqual(job.stdout.readline(), "ready\n")
        return job

    def end(self, job):
        """Ends the job as its user would; gives its last line."""
        if job.poll() is not None:
            return ""
        try:
            output, errors = job.communicate(timeout=LONG)
        except subprocess.TimeoutExpired:
            job.kill()
            raise
        self.assertEqual(job.returncode, 0, errors)
        return output

    def job(self, kinds, **changes):
        return self.start(BUILT["long_job"], kinds, **changes)

    def tool(self, *words, status=0):
        done = self.execute(BUILT["command"], *words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def attach(self, job, status=0):
        self.journal = self.scratch / "journal"
        done = self.tool("attach", job.pid, "--options", f"journal={self.journal}:verbosity=0", "--library", BUILT["library"],
                         status=status)
        return done.stderr

    def setUp(self):
        super().setUp()
        probe = self.echo()
        done = self.execute(BUILT["command"], "doctor", probe.pid, "--library", BUILT["library"])
        refusals = [line for line in done.stdout.splitlines() if line.startswith("no ")]
        self.assertTrue(done.returncode == 0 or refusals, done.stdout)
        if refusals:
            self.skipTest("this machine lets no process be traced: " + "; ".join(refusals))

    def test_findings_of_a_joined_job(self):
        job = self.job("k")
        said = self.attach(job)
        self.assertIn(f"attached to process {job.pid}", said)
        self.assertIn("1 copy of flash_ref watched", said)
        self.assertEqual(ask(job), "called\n")
        calls, refused, interrupted = map(int, SUMMARY.search(self.end(job)).groups())
        self.assertGreater(calls, 0)
        self.assertEqual((refused, interrupted), (calls, 0))
        done, report = self.report(self.journal)
        self.assertEqual(done.returncode, 1, done.stderr)
        [finding] = report["findings"]
        self.assertEqual(finding["rule"], "rotary-dtype-mismatch")
        self.assertEqual(operands(finding)["cos"], "bfloat16")
        self.assertIn("rotate", finding["backtrace"][0]["function"])
        self.assertLessEqual(finding["count"], calls)

    def joined_without_a_slot(self, program, kinds):
        job = self.start(BUILT[program], kinds)
        said = self.attach(job)
        self.assertIn("0 copies of flash_ref watched", said)
        self.assertEqual(ask(job), "called\n")
        calls, refused, interrupted = map(int, SUMMARY.search(self.end(job)).groups())
        self.assertGreater(calls, 0)
        self.assertEqual((refused, interrupted), (calls, 0))
        return said, calls, self.report(self.journal)[1]

    def test_bound_calls_of_a_copy_without_a_slot(self):
        for program in ("long_job_now", "long_job_lazy"):
            with self.subTest(program=program):
                said, calls, report = self.joined_without_a_slot(program, "k")
                self.assertIn("1 more without an observer slot: 1 bound call is watched now", said)
                [finding] = report["findings"]
                self.assertEqual(finding["rule"], "rotary-dtype-mismatch")
                self.assertGreater(finding["count"], 1)
                self.assertLessEqual(finding["count"], calls)
                self.assertIn("those through an address that was taken before",
                              " ".join(entry["detail"] for entry in report["not_analysed"]))
                for journal in self.journals():
                    journal.unlink()

    def test_a_call_that_is_bound_later(self):
        said, calls, report = self.joined_without_a_slot("long_job_lazy", "l")
        self.assertIn("1 bound call is watched now", said)
        self.assertEqual(report["findings"][0]["count"], calls)

    def test_an_address_that_was_taken_before(self):
        said, _, report = self.joined_without_a_slot("long_job_now", "p")
        self.assertIn("not seen are calls through an address that the program has taken before", said)
        self.assertEqual(report["findings"], [])
        self.assertIn("address that was taken before", " ".join(entry["detail"] for entry in report["not_analysed"]))

    def test_left_again_without_a_slot(self):
        job = self.start(BUILT["long_job_now"], "k")
        self.attach(job)
        self.tool("detach", job.pid)
        self.assertEqual(ask(job), "called\n")
        calls, refused, _ = map(int, SUMMARY.search(self.end(job)).groups())
        self.assertEqual(refused, calls)

    def test_busy_threads_are_left_as_they_were(self):
        for kinds in ("mmmk", "dk", "fk", "esk", "ck", "mdfesck", "E", "R"):
            with self.subTest(kinds=kinds):
                job = self.job(kinds)
                said = self.attach(job)
                self.assertRegex(said, r"was paused for \d+\.\d ms")
                if "k" in kinds:
                    self.assertEqual(ask(job), "called\n")
                self.assertEqual(SUMMARY.search(self.end(job)).group(3), "0", "a system call was interrupted")

    def scheduling(self, job):
        """Of each thread: policy with its flags, nice value, slice."""
        seen = {}
        for thread in map(int, os.listdir(f"/proc/{job.pid}/task")):
            buffer = ctypes.create_string_buffer(48)
            got = ctypes.CDLL(None, use_errno=True).syscall(SCHED_GETATTR, thread, buffer, 48, 0)
            self.assertEqual(got, 0, os.strerror(ctypes.get_errno()))
            seen[thread] = struct.unpack("IIQiIQQQ", buffer.raw)
        return seen

    def test_threads_are_scheduled_as_before(self):
        """A thread is urgent only as long as it is stopped."""
        for nice in (0, 7):
            with self.subTest(nice=nice):
                job = self.start("nice", "-n", str(nice), BUILT["long_job"], "kes")
                before = self.scheduling(job)
                self.assertIn("was paused for", self.attach(job))
                after = self.scheduling(job)
                self.assertEqual(before, {thread: after[thread] for thread in before})
                self.end(job)
                for journal in self.journals():
                    journal.unlink()

    def test_attached_by_a_command_that_ignores_its_children(self):
        """SIGCHLD, by which the tool learns of a stop, may be ignored in the shell that starts it."""
        job = self.job("k")
        done = subprocess.run([BUILT["command"], "attach", str(job.pid), "--library", BUILT["library"], "--options",
                               f"journal={self.scratch / 'journal'}"], env=environment(), capture_output=True, text=True,
                              preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN), timeout=LONG, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("was paused for", done.stderr)

    def test_detach_and_on_again(self):
        job = self.job("k")
        self.attach(job)
        self.assertIn("is now not watched", self.tool("detach", job.pid).stderr)
        self.assertIn("was already not watched", self.tool("off", job.pid).stderr)
        self.assertIn("switched off", self.tool("doctor", job.pid, "--library", BUILT["library"]).stdout)
        self.assertIn("is now watched", self.tool("on", job.pid).stderr)
        self.assertIn("has the library already", self.attach(job))
        self.assertIn("calls", self.end(job))

    def test_a_dormant_job_records_only_while_it_is_on(self):
        journal = self.scratch / "journal"
        job = self.job("k", LD_PRELOAD=BUILT["library"], DTYPE_SAN_OPTIONS=f"start=dormant:journal={journal}")
        self.assertEqual(ask(job), "called\n")
        self.assertIn("switched off", self.tool("doctor", job.pid, "--library", BUILT["library"]).stdout)
        if self.journals():
            self.assertEqual(self.report(journal)[1]["findings"], [])
        self.assertIn("is now watched", self.tool("on", job.pid).stderr)
        self.assertEqual(ask(job), "called\n")
        self.tool("off", job.pid)
        self.assertEqual(ask(job), "called\n")
        calls = int(SUMMARY.search(self.end(job)).group(1))
        _, report = self.report(journal)
        [finding] = report["findings"]
        self.assertLess(finding["count"], calls)

    def test_python_job(self):
        program = ("import ctypes, sys, threading\n"
                   "print('ready', flush=True)\n"
                   "threading.Thread(target=lambda: [list(range(1000)) for _ in iter(int, 1)], daemon=True).start()\n"
                   "sys.stdin.read()\n"
                   "print('calls 0 refused 0 interrupted 0')\n")
        job = self.start(sys.executable, "-c", program)
        self.assertIn("attached to process", self.attach(job))
        self.assertIn("calls 0", self.end(job))

    def test_what_cannot_be_joined(self):
        gone = subprocess.Popen(["true"])
        gone.wait()
        self.assertIn(f"there is no process {gone.pid}", self.tool("attach", gone.pid, status=1).stderr)
        self.assertIn("'zero' is no process id", self.tool("attach", "zero", status=2).stderr)
        self.assertIn("'-5' is no process id", self.tool("attach", "--", "-5", status=2).stderr)
        plain = self.start(sys.executable, "-c", "print('ready', flush=True); input() if False else __import__('sys').stdin.read()")
        self.assertIn("runs without dtype-san", self.tool("on", plain.pid, status=1).stderr)
        self.assertIn("runs without dtype-san", self.tool("detach", plain.pid, status=1).stderr)

        stopped = self.job("s")
        os.kill(stopped.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, stopped.pid, os.WSTOPPED | os.WNOWAIT)
        self.assertIn("is stopped", self.attach(stopped, status=1))
        os.kill(stopped.pid, signal.SIGCONT)
        self.assertIn("calls 0", self.end(stopped))

        still = self.echo(program=BUILT["static_sleeper"])
        self.assertIn("has no glibc", self.attach(still, status=1))

    def test_doctor(self):
        job = self.job("k")
        said = self.tool("doctor", job.pid, "--library", BUILT["library"]).stdout
        self.assertIn("can be attached to", said)
        self.assertIn("holds flash_ref with an observer slot", said)
        said = self.tool("doctor", "--library", BUILT["library"], "--", BUILT["static"], status=1).stdout
        self.assertIn("is statically linked", said)
        said = self.tool("doctor", "--library", BUILT["library"], "--", BUILT["long_job"]).stdout
        self.assertIn("can be started", said)
        self.assertIn(f"'{BUILT['kernels']}' holds flash_ref with an observer slot: every call to it is seen", said)
        said = self.tool("doctor", "--library", BUILT["library"], "--", BUILT["long_job_now"]).stdout
        self.assertIn(f"'{BUILT['plain_kernel']}' holds flash_ref without an observer slot: calls inside it are not seen", said)
        said = self.tool("doctor", "--library", BUILT["library"], "--", BUILT["static_copy"]).stdout
        self.assertIn(f"'{BUILT['static_copy']}' holds flash_ref with an observer slot", said)
        said = self.tool("doctor", "--library", BUILT["library"], "--", BUILT["no_kernels"]).stdout
        self.assertIn("it is not linked with flash_ref; a copy that it opens later is seen", said)


if __name__ == "__main__":
    main()
