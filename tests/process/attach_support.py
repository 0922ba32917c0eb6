"""What the tests of attaching share: jobs that are joined, and a pause that is drawn out."""
import os
import pathlib
import shutil
import signal
import subprocess
import time

from support import BUILT, Case, environment


def status(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return {name: value.strip() for name, value in (line.split(":", 1) for line in lines)}


def condition(pid):
    """What the pause must leave as it was."""
    return status(pid)["SigBlk"], os.sched_getscheduler(pid)


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
        output, errors = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 0, errors)
        return output

    def tool(self, *words, status=0):
        done = self.execute(BUILT["command"], *words, "--library", BUILT["library"])
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def slow_attach(self, job, ignored=()):
        """Attaches with a pause that is drawn out; gives strace, the tool and the log once the job's thread is borrowed. The
        tool has a child do that, which strace follows. The tool ignores some signals."""
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        trace = self.scratch / "trace"
        trace.unlink(missing_ok=True)
        tracer = subprocess.Popen(
            ["strace", "-f", "-qq", "-o", str(trace), "-e", "trace=ptrace", "-e", "inject=ptrace:delay_enter=150000", BUILT["command"],
             "attach", str(job.pid), "--library", BUILT["library"], "--options", self.options()],
            env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            preexec_fn=lambda: [signal.signal(number, signal.SIG_IGN) for number in ignored])
        self.addCleanup(tracer.communicate)
        self.addCleanup(tracer.kill)
        for _ in range(600):
            if tracer.poll() is not None:
                break
            if trace.exists() and "PTRACE_SINGLESTEP" in trace.read_text(encoding="utf-8"):
                [tool] = pathlib.Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children").read_text(encoding="utf-8").split()
                return tracer, int(tool), trace
            time.sleep(0.02)
        tracer.kill()
        error = tracer.communicate()[1]
        self.skipTest("strace lengthens no call here: " + error)
