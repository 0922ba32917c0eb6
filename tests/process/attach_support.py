"""What the tests of attaching share: jobs that are joined, and a pause that lasts until the test lets it end."""
import os
import pathlib
import re
import shutil
import signal
import subprocess

from support import BUILT, LONG, Case, environment


def status(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return {name: value.strip() for name, value in (line.split(":", 1) for line in lines)}


def condition(pid):
    """What the pause must leave as it was."""
    return status(pid)["SigBlk"], os.sched_getscheduler(pid)


class Held:
    """An attach, under strace, that has stopped where the job's thread is borrowed and has made its first step."""

    def __init__(self, case, tracer, trace):
        self.case, self.tracer, self.trace = case, tracer, trace
        case.until(lambda: tracer.poll() is not None or "--- stopped by SIGSTOP ---" in self.said())
        step = re.search(r"^(\d+) +ptrace\(PTRACE_SINGLESTEP", self.said(), re.M)
        case.assertTrue(step, self.said() or tracer.communicate())
        case.assertNotIn("PTRACE_DETACH", self.said())
        self.child = int(step[1])  # of the tool; it borrows the thread
        [self.tool] = map(int, pathlib.Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children").read_text(encoding="utf-8").split())

    def said(self):
        return self.trace.read_text(encoding="utf-8") if self.trace.exists() else ""

    def go_on(self):
        try:
            os.kill(self.child, signal.SIGCONT)
        except ProcessLookupError:
            pass  # the kernel does that itself where the tool is gone

    def finish(self):
        """What the tool says, once the thread is back and the tool has ended."""
        self.go_on()
        said = self.tracer.communicate(timeout=LONG)[1]
        self.case.assertIn("PTRACE_DETACH", self.said())
        return said


class PauseCase(Case):
    """Jobs that are joined; skipped where nothing can be traced."""

    def setUp(self):
        super().setUp()
        probe = self.start(BUILT["long_job"], "s")
        done = self.execute(BUILT["command"], "attach", probe.pid, "--library", BUILT["library"], "--options", self.options())
        if "ptrace" in done.stderr or "traced" in done.stderr:
            self.skipTest("this machine lets no process be traced: " + done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.finish(probe)
        for journal in self.journals():
            journal.unlink()

    def options(self):
        return f"journal={self.scratch / 'journal'}:verbosity=0"

    def start(self, *words):
        job = subprocess.Popen([str(word) for word in words], env=environment(), cwd=self.scratch, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        self.assertEqual(job.stdout.readline(), "ready\n")
        return job

    def finish(self, job):
        output, errors = job.communicate(timeout=LONG)
        self.assertEqual(job.returncode, 0, errors)
        return output

    def tool(self, *words, status=0):
        done = self.execute(BUILT["command"], *words, "--library", BUILT["library"])
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def held_attach(self, job, ignored=()):
        """An attach that waits in the pause, see Held. The tool ignores some signals."""
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        trace = self.scratch / "trace"
        if not (calls := self.calls_to_the_first_step()):
            self.skipTest("strace shows no step of a thread here")
        trace.unlink(missing_ok=True)
        command = self.traced(trace, job, "-e", f"inject=ptrace:signal=STOP:when={calls}")
        tracer = subprocess.Popen(command, env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  preexec_fn=lambda: [signal.signal(number, signal.SIG_IGN) for number in ignored])
        self.addCleanup(tracer.communicate)
        self.addCleanup(tracer.kill)
        return Held(self, tracer, trace)

    def traced(self, trace, job, *how):
        return ["strace", "-f", "-qq", "-o", str(trace), "-e", "trace=ptrace", *how, BUILT["command"], "attach", str(job.pid), "--library",
                BUILT["library"], "--options", self.options()]

    def calls_to_the_first_step(self):
        """How many of ptrace the child of the tool makes in an attach until the borrowed thread steps."""
        job, trace = self.start(BUILT["long_job"], "k"), self.scratch / "trace"
        self.execute(*self.traced(trace, job))
        self.finish(job)
        for journal in self.journals():
            journal.unlink()
        requests = re.findall(r"ptrace\((\w+)", trace.read_text(encoding="utf-8")) if trace.exists() else []
        return requests.index("PTRACE_SINGLESTEP") + 1 if "PTRACE_SINGLESTEP" in requests else 0
