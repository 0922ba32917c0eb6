"""What dtype-san says when something is in the way: the thing, its value, and the true reason; never a success that is none."""
import os
import shutil
import subprocess
import sys
import time

from attach_support import PauseCase
from support import BUILT, LONG, Case, environment, main

# The job's thread calls while the library is being loaded: as that comes, and where a step of it takes long.
SLOW = ("", "memfd_create", "openat")


class Attaching(PauseCase):
    def attach(self, job, options, status=0):
        return self.tool("attach", job.pid, "--options", options, status=status)

    def slow_job(self, slow):
        return self.start("env", f"LD_PRELOAD={BUILT['slow_syscall']}", f"SLOW_SYSCALL={slow}", BUILT["long_job"], "k")

    def test_no_journal_can_be_made(self):
        for slow in SLOW:
            with self.subTest(slow=slow):
                self.no_journal_can_be_made(self.slow_job(slow), self.scratch / f"file{slow}")

    def no_journal_can_be_made(self, job, blocked):
        blocked.touch()
        said = self.attach(job, f"journal={blocked}/runs", status=1)
        self.assertIn(f"process {job.pid} has the library now and runs on, but nothing is watched: no journal can be created", said)
        self.assertIn(f"at '{blocked}/runs'", said)
        self.assertNotIn("attached to", said)
        doctor = self.execute(BUILT["command"], "doctor", job.pid, "--library", BUILT["library"])
        self.assertEqual(doctor.returncode, 1)
        self.assertIn(f"no   what it calls is not all recorded: no journal can be created (not a directory) at '{blocked}/runs'",
                      doctor.stdout)
        said = self.execute(BUILT["command"], "on", job.pid).stderr
        self.assertIn(f"is now watched\ndtype-san: process {job.pid} could not record until now: no journal can be created", said)
        self.assertEqual(self.execute(BUILT["command"], "off", job.pid).returncode, 0)
        self.assertIn("It tries again at its next finding", self.attach(job, "verbosity=0", status=1))
        # Room is made: the next finding, at the next power of two of its count, is recorded.
        blocked.unlink()
        blocked.mkdir()
        self.until(lambda: list(blocked.glob("runs/*")))
        self.until(lambda: f"journal {blocked}/runs/" in self.execute(
            BUILT["command"], "attach", job.pid, "--library", BUILT["library"], "--options", "verbosity=0").stderr)
        self.finish(job)
        done, report = self.report(blocked / "runs")
        self.assertEqual((done.returncode, len(report["findings"])), (1, 1), done.stderr)
        self.assertEqual([library["path"] for library in report["watched"]["libraries"]], [os.path.realpath(BUILT["kernels"])])

    def test_options_for_a_library_that_is_there(self):
        for slow in SLOW:
            with self.subTest(slow=slow):
                self.options_for_a_library_that_is_there(self.slow_job(slow), self.scratch / f"other{slow}")

    def options_for_a_library_that_is_there(self, job, other):
        self.assertIn(f"journal {self.scratch}/journal/", self.attach(job, self.options()))
        said = self.attach(job, f"journal={other}")
        self.assertIn(f"--options 'journal={other}' is not taken", said)
        self.assertIn(f"journal {self.scratch}/journal/", said)
        self.assertFalse(other.exists())
        self.assertNotIn("is not taken", self.tool("attach", job.pid))
        self.finish(job)

    def test_a_job_without_a_free_descriptor(self):
        fill = ("import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50)); files = []\n"
                "try:\n  while True: files.append(open('/dev/null'))\nexcept OSError: pass\n"
                "print('ready', flush=True); sys.stdin.read(); print(len(files))\n")
        job = self.start(sys.executable, "-S", "-c", fill)
        for words in (["attach", "--options", self.options()], ["doctor"]):
            self.assertIn("has no free descriptor (50 of 50 are in use)", self.tool(*words, job.pid, status=1))
        self.assertRegex(self.finish(job), "^4[0-9]\n$")

    def test_another_tool_that_is_stopped(self):
        """It holds the turn as a tool does; the one that waits names it and does not wait for ever."""
        job = self.start(BUILT["long_job"], "k")
        hold = (f"import fcntl, os, signal; file = open('/proc/{job.pid}/mem', 'rb'); fcntl.flock(file, fcntl.LOCK_EX); "
                "print('held', flush=True); os.kill(os.getpid(), signal.SIGSTOP)")
        other = subprocess.Popen([sys.executable, "-c", hold], stdout=subprocess.PIPE, text=True)
        self.addCleanup(other.communicate)
        self.addCleanup(other.kill)
        self.assertEqual(other.stdout.readline(), "held\n")
        os.waitid(os.P_PID, other.pid, os.WSTOPPED | os.WNOWAIT)
        self.assertIn(f"another dtype-san (process {other.pid}), stopped by a signal ('kill -CONT {other.pid}'), is joining",
                      self.tool("doctor", job.pid))
        said = self.attach(job, self.options(), status=1)
        self.assertIn(f"another dtype-san (process {other.pid}), which is joining process {job.pid}, is stopped by a signal: "
                      f"'kill -CONT {other.pid}' lets it finish", said)
        other.kill()
        other.wait()
        self.assertIn("1 copy of flash_ref watched", self.attach(job, self.options()))
        self.finish(job)

    def started_attach(self, job):
        return subprocess.Popen([BUILT["command"], "attach", str(job.pid), "--library", BUILT["library"], "--options", self.options()],
                                env=environment(), stderr=subprocess.PIPE, text=True)

    def test_a_job_that_is_killed_meanwhile(self):
        """At any moment of an attach, of which an unhurried one takes some 40 ms: that it ended is the reason, and no other."""
        failed = 0
        for part in range(80):
            job = self.start(BUILT["long_job"], "ksss")
            tool = self.started_attach(job)
            time.sleep(0.001 * (part % 40))
            job.kill()
            said = tool.communicate(timeout=LONG)[1]
            if tool.returncode != 0:
                failed += 1
                self.assertEqual(tool.returncode, 1)
                self.assertRegex(said, rf"process {job.pid} (ended|has ended|was ended by signal 9)|there is no process {job.pid}")
        print(f"{failed} of 80 attaches met the end of the job")


class Named(Case):
    def refused(self, *words, status=2):
        done = self.execute(BUILT["command"], *words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertNotIn("terminate", done.stderr)
        return done.stdout + done.stderr

    def test_a_library_that_is_not_ours(self):
        for library in (BUILT["kernels"], shutil.which("sh")):
            for words in (["run"], ["doctor"], ["attach"]):
                with self.subTest(library=library, words=words):
                    said = self.refused(*words, "--library", library, *(["--", "true"] if words == ["run"] else ["1"]))
                    self.assertRegex(said, f"{library}: not (the preload library of dtype-san|a shared library)")

    def test_a_current_directory_that_is_gone(self):
        self.preloaded(BUILT["linked_calls"])
        report = self.scratch / "report.json"
        for status, words in ((0, f"run --format=json={report} -- '{BUILT['linked_calls']}'"),
                              (1, f"report --format=json={report} '{self.scratch}/journal'")):
            with self.subTest(words=words):
                done = self.execute("sh", "-c", f"mkdir gone; cd gone; rmdir ../gone; '{BUILT['command']}' {words}")
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertNotIn("filesystem error", done.stderr)
                self.assertIn('"rule": "rotary-dtype-mismatch"', report.read_text(encoding="utf-8"))
                report.unlink()

    def test_one_journal_that_cannot_be_read(self):
        self.preloaded(BUILT["linked_calls"])
        bad = self.scratch / "journal" / "bad.dtype-san"
        bad.symlink_to("/proc/self/mem")  # opens, and its first byte is an input/output error
        done, report = self.report(self.scratch / "journal")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(f"dtype-san: {bad}: cannot be read: Input/output error", done.stderr)
        self.assertEqual(len(report["findings"]), 1)

    def test_options_that_name_nothing(self):
        for options, message in (("contracts=/nonexistent", "option 'contracts': '/nonexistent' cannot be opened: No such file"),
                                 ("contracts=/etc/passwd", "'/etc/passwd' is no compiled contract file of this version"),
                                 ("expect=flsh", "option 'expect': unknown name 'flsh', did you mean \"flash\"?"),
                                 ("expect=flash_ref_rotari", "did you mean \"flash_ref_rotary\"?")):
            with self.subTest(options=options):
                self.assertIn(message, self.refused("run", "--options", options, "--", BUILT["linked_calls"]))

    def test_a_script_without_its_interpreter(self):
        script = self.scratch / "script"
        script.write_text("#!/no/such/python\n")
        script.chmod(0o755)
        self.assertIn(f"'{script}' is a script, and its interpreter '/no/such/python' cannot be started: No such file",
                      self.refused("run", "--", script, status=127))

    def test_doctor_takes_one_thing(self):
        for words in (["1", "2"], ["1", "--", "true"], ["1", "true"]):
            self.assertIn("doctor takes one process id, or a command behind --", self.refused("doctor", *words))

    def test_doctor_of_one_that_has_ended(self):
        gone = self.ended()
        said = self.refused("doctor", "--library", BUILT["library"], gone.pid, status=1)
        self.assertIn(f"process {gone.pid}: [true]", said)
        self.assertNotIn("kernel thread", said)

    def test_a_command_that_takes_its_journal_away(self):
        journal = self.scratch / "kept"
        done = self.execute(BUILT["command"], "run", "--journal", journal, "--", "sh", "-c", f"rm -r '{journal}'")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("1 journal of 1 that were begun is not there any more", done.stderr)


if __name__ == "__main__":
    main()
