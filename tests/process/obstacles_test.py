"""What stands in the way of watching a program or joining a process is named: another word size, another libc, another user,
another tracer, a file system that cannot be written."""
import os
import pathlib
import shutil
import struct
import subprocess
import sys

from support import BUILT, LONG, Case, ask, environment, main, preloadable

UNPRIVILEGED = 65534


def small_program(path):
    """A 32-bit program that only waits."""
    code = bytes([0xb8, 29, 0, 0, 0, 0xcd, 0x80, 0xeb, 0xf7])  # pause(), again and again
    size, base = 0x54 + len(code), 0x08048000
    header = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, base + 0x54, 0x34, 0, 0, 0x34, 0x20, 1, 0, 0, 0)
    path.write_bytes(header + struct.pack("<IIIIIIII", 1, 0, base, base, size, size, 5, 0x1000) + code)
    path.chmod(0o755)


# Runs the rest of its words without ptrace, process_vm_readv and process_vm_writev: they answer EPERM.
NO_TRACING = """import ctypes, os, struct, sys
def step(code, value, yes=0, no=0): return struct.pack("HBBI", code, yes, no, value)
program = step(0x20, 0) + step(0x15, 101, 2) + step(0x15, 310, 1) + step(0x15, 311, 0, 1) + step(6, 0x00050001) + step(6, 0x7fff0000)
steps = ctypes.create_string_buffer(program)
filter = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(steps)))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, filter, 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""


class Obstacles(Case):
    def tool(self, *words, status, prefix=()):
        done = self.execute(*prefix, BUILT["command"], *words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_raised_privileges(self):
        program = self.scratch / "raised"
        shutil.copy2(shutil.which("cat"), program)
        if os.geteuid() != 0:
            self.skipTest("only root can make a program set-uid for another user")
        os.chown(program, UNPRIVILEGED, UNPRIVILEGED)
        program.chmod(0o4755)
        self.scratch.chmod(0o755)
        job = self.echo(program=program)
        if f"Uid:\t0\t{UNPRIVILEGED}" not in pathlib.Path(f"/proc/{job.pid}/status").read_text(encoding="utf-8"):
            self.skipTest("set-uid programs get no other user here (nosuid, or no new privileges)")
        words = f"runs with raised privileges ('{program}' is set-uid, set-gid or has file capabilities)"
        self.assertIn(f"process {job.pid} {words}", self.tool("attach", job.pid, "--library", BUILT["library"], status=1))
        self.assertIn(words, self.tool("doctor", job.pid, "--library", BUILT["library"], status=1))

    def test_raised_privileges_seen_by_its_user(self):
        program = self.scratch / "raised"
        shutil.copy2(shutil.which("cat"), program)
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("only root can be another user here, by setpriv")
        program.chmod(0o4755)
        self.scratch.chmod(0o755)
        unprivileged = ("setpriv", f"--reuid={UNPRIVILEGED}", f"--regid={UNPRIVILEGED}", "--clear-groups")
        job = self.echo(*unprivileged, program=program)
        if f"Uid:\t{UNPRIVILEGED}\t0" not in pathlib.Path(f"/proc/{job.pid}/status").read_text(encoding="utf-8"):
            self.skipTest("set-uid programs get no other user here (nosuid, or no new privileges)")
        if self.execute(*unprivileged, BUILT["command"], "--version").returncode != 0:
            self.skipTest("another user cannot read the build folder")
        said = self.tool("attach", job.pid, "--library", BUILT["library"], status=1, prefix=unprivileged)
        self.assertIn("is set-uid, set-gid or has file capabilities): the library does nothing in such a program", said)

    def test_32_bit(self):
        program = self.scratch / "small"
        small_program(program)
        self.assertIn("is a 32-bit i386 program, the preload library is 64-bit", self.tool("run", "--", program, status=126))
        try:
            job = subprocess.Popen([program])  # what comes back has become another program
        except OSError as error:
            self.skipTest(f"this kernel runs no 32-bit program: {error}")
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        self.until(lambda: job.poll() is not None or pathlib.Path(f"/proc/{job.pid}/stat").read_text("utf-8").split(") ")[1][0] == "S")
        if job.poll() is not None:
            self.skipTest("this kernel runs no 32-bit program")
        for command in ("attach", "doctor"):
            self.assertIn("is a 32-bit i386 program, the library is 64-bit",
                          self.tool(command, job.pid, "--library", BUILT["library"], status=1))

    def test_another_libc(self):
        program = self.scratch / "on-musl"
        ours, theirs = b"/lib64/ld-linux-x86-64.so.2\0", b"/lib/ld-musl-x86_64.so.1"
        content = pathlib.Path(BUILT["no_kernels"]).read_bytes()
        if ours not in content:
            self.skipTest("the loader of this machine has another path than on x86-64")
        program.write_bytes(content.replace(ours, theirs.ljust(len(ours), b"\0")))
        program.chmod(0o755)
        self.assertIn("runs on musl (/lib/ld-musl-x86_64.so.1), the preload library needs glibc",
                      self.tool("run", "--", program, status=126))
        self.assertIn("runs on musl", self.tool("doctor", "--library", BUILT["library"], "--", program, status=1))

    def test_another_user(self):
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("only root can become another user, and setpriv does it")
        job = self.echo()
        as_unprivileged = ("setpriv", f"--reuid={UNPRIVILEGED}", f"--regid={UNPRIVILEGED}", "--clear-groups")
        for command in ("attach", "off"):
            said = self.tool(command, job.pid, status=1, prefix=as_unprivileged)
            self.assertRegex(said, r"run as its user, 0, or as root|belongs to user 0, you are 65534: run as that user or as root")

    def test_a_missing_capability(self):
        """As in a container that was not given SYS_PTRACE."""
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("only root has capabilities to be without, and setpriv takes them")
        job = self.echo()
        without = ("setpriv", "--bounding-set=-sys_ptrace")
        words = "has capabilities that this command has not, and this command lacks CAP_SYS_PTRACE"
        for command in ("attach", "on"):
            self.assertIn(f"process {job.pid} {words}", self.tool(command, job.pid, status=1, prefix=without))
        self.assertIn(words, self.tool("doctor", job.pid, "--library", BUILT["library"], status=1, prefix=without))

    def test_switched_without_the_right_to_trace(self):
        """A job that was started dormant needs none; one that was not is refused."""
        if os.uname().machine != "x86_64":
            self.skipTest("the numbers of system calls here are those of x86-64")
        without = (sys.executable, "-c", NO_TRACING)
        settings = f"start=dormant:journal={self.scratch / 'journal'}"
        job = subprocess.Popen([BUILT["long_job"], "k"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               env=environment(LD_PRELOAD=preloadable(BUILT["library"]), DTYPE_SAN_OPTIONS=settings))
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        self.assertEqual(job.stdout.readline(), "ready\n")
        self.assertIn("switched off", self.tool("doctor", job.pid, status=0, prefix=without))
        self.assertIn("is now watched", self.tool("on", job.pid, status=0, prefix=without))
        self.assertEqual(ask(job), "called\n")
        self.assertIn("is now not watched", self.tool("off", job.pid, status=0, prefix=without))
        self.assertTrue(job.communicate(timeout=LONG)[0].startswith("calls"))
        _, report = self.report(self.scratch / "journal")
        self.assertEqual([finding["rule"] for finding in report["findings"]], ["rotary-dtype-mismatch"])
        other = self.echo()
        self.assertIn("may not be traced by this user", self.tool("attach", other.pid, status=1, prefix=without))

    def with_scope(self, scope, *words):
        """A command in a mount namespace where Yama's file says so; this machine need not have Yama."""
        kernel = "/proc/sys/kernel"
        script = f'mount -t tmpfs none {kernel} && mkdir {kernel}/yama && echo {scope} > {kernel}/yama/ptrace_scope && exec "$@"'
        return self.execute("unshare", "-m", "sh", "-c", script, "sh", *words)

    def test_yamas_limits_are_named(self):
        if os.geteuid() != 0 or self.with_scope(1, "true").returncode != 0 or shutil.which("setpriv") is None:
            self.skipTest("only root, with a mount namespace of its own, can pretend Yama's limits")
        if not os.path.exists("/usr/bin/python3") or os.uname().machine != "x86_64":
            self.skipTest("another user needs a Python that it can read, and x86-64, to refuse itself ptrace")
        unprivileged = ("setpriv", f"--reuid={UNPRIVILEGED}", f"--regid={UNPRIVILEGED}", "--clear-groups")
        if self.execute(*unprivileged, BUILT["command"], "--version").returncode != 0:
            self.skipTest("another user cannot read the build folder")
        without = ("/usr/bin/python3", "-c", NO_TRACING)
        theirs, ours = self.echo(*unprivileged), self.echo()
        attach = (BUILT["command"], "attach", "--library", BUILT["library"])
        for scope, prefix, job, words in (
                (1, (*unprivileged, *without), theirs, "is no child of this command, and /proc/sys/kernel/yama/ptrace_scope is 1: run as root, "
                 "set it to 0, or start the job with DTYPE_SAN_OPTIONS=start=dormant next time"),
                (2, (*unprivileged, *without), theirs, "cannot be traced: /proc/sys/kernel/yama/ptrace_scope is 2 (only with CAP_SYS_PTRACE)"),
                (3, without, ours, "cannot be traced: /proc/sys/kernel/yama/ptrace_scope is 3 (only a reboot changes that)")):
            done = self.with_scope(scope, *prefix, *attach, job.pid)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(f"process {job.pid} {words}", done.stderr)
        said = self.with_scope(1, *unprivileged, BUILT["command"], "doctor", "--library", BUILT["library"]).stdout
        self.assertIn("note attaching needs root here: /proc/sys/kernel/yama/ptrace_scope is 1", said)

    def test_a_thread_of_the_kernel(self):
        if not pathlib.Path("/proc/2/status").exists() or pathlib.Path("/proc/2/comm").read_text(encoding="utf-8") != "kthreadd\n":
            self.skipTest("no thread of the kernel is seen here")
        for words in (("attach", 2), ("on", 2), ("doctor", 2)):
            self.assertIn("is a thread of the kernel", self.tool(*words, status=1))

    def test_another_tracer(self):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        job = self.echo()
        tracer = subprocess.Popen(["strace", "-qq", "-o", self.scratch / "trace", "-p", str(job.pid)])
        self.addCleanup(tracer.wait)
        self.addCleanup(tracer.kill)
        self.until(lambda: tracer.poll() is not None or f"TracerPid:\t{tracer.pid}\n" in
                   pathlib.Path(f"/proc/{job.pid}/status").read_text(encoding="utf-8"))
        if tracer.poll() is not None:
            self.skipTest("no process can be traced here")
        self.assertIn(f"is traced by process {tracer.pid} already (a debugger or strace); only one can be",
                      self.tool("attach", job.pid, "--library", BUILT["library"], status=1))

    def test_a_file_system_that_is_read_only(self):
        folder = self.scratch / "fixed"
        folder.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", folder], capture_output=True, text=True, check=False)
        if mounted.returncode != 0:
            self.skipTest(f"no file system can be mounted here: {mounted.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", folder], check=True)
        said = self.tool("run", "--journal", folder, "--", BUILT["kernel_calls"], "wrong", status=2)
        self.assertIn("journals cannot be written there: Read-only file system", said)
        self.preloaded(BUILT["kernel_calls"], "wrong")
        said = self.tool("report", f"--format=json={folder}/report.json", self.scratch / "journal", status=2)
        self.assertIn("the report cannot be written there: Read-only file system", said)


if __name__ == "__main__":
    main()
