"""What stands in the way of watching a program or joining a process is named: another word size, another libc, another user,
another tracer, a file system that cannot be written."""
import os
import pathlib
import shutil
import struct
import subprocess
import time

from support import BUILT, Case, main

NOBODY = 65534


def small_program(path):
    """A 32-bit program that only waits."""
    code = bytes([0xb8, 29, 0, 0, 0, 0xcd, 0x80, 0xeb, 0xf7])  # pause(), again and again
    size, base = 0x54 + len(code), 0x08048000
    header = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, base + 0x54, 0x34, 0, 0, 0x34, 0x20, 1, 0, 0, 0)
    path.write_bytes(header + struct.pack("<IIIIIIII", 1, 0, base, base, size, size, 5, 0x1000) + code)
    path.chmod(0o755)


class Obstacles(Case):
    def tool(self, *words, status, prefix=()):
        done = self.execute(*prefix, BUILT["command"], *words)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def running(self, *words):
        job = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        time.sleep(0.3)
        return job

    def test_raised_privileges(self):
        program = self.scratch / "raised"
        shutil.copy2(shutil.which("sleep"), program)
        if os.geteuid() != 0:
            self.skipTest("only root can make a program set-uid for another user")
        os.chown(program, NOBODY, NOBODY)
        program.chmod(0o4755)
        self.scratch.chmod(0o755)
        job = self.running(program, 60)
        if job.poll() is not None or f"Uid:\t0\t{NOBODY}" not in pathlib.Path(f"/proc/{job.pid}/status").read_text(encoding="utf-8"):
            self.skipTest("set-uid programs get no other user here (nosuid, or no new privileges)")
        words = f"runs with raised privileges ('{program}' is set-uid, set-gid or has file capabilities)"
        self.assertIn(f"process {job.pid} {words}", self.tool("attach", job.pid, "--library", BUILT["library"], status=1))
        self.assertIn(words, self.tool("doctor", job.pid, "--library", BUILT["library"], status=1))

    def test_raised_privileges_seen_by_its_user(self):
        program = self.scratch / "raised"
        shutil.copy2(shutil.which("sleep"), program)
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("only root can be another user here, by setpriv")
        program.chmod(0o4755)
        self.scratch.chmod(0o755)
        nobody = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        job = self.running(*nobody, program, 60)
        if f"Uid:\t{NOBODY}\t0" not in pathlib.Path(f"/proc/{job.pid}/status").read_text(encoding="utf-8"):
            self.skipTest("set-uid programs get no other user here (nosuid, or no new privileges)")
        if self.execute(*nobody, BUILT["command"], "--version").returncode != 0:
            self.skipTest("another user cannot read the build folder")
        said = self.tool("attach", job.pid, "--library", BUILT["library"], status=1, prefix=nobody)
        self.assertIn("is set-uid, set-gid or has file capabilities): the library does nothing in such a program", said)

    def test_32_bit(self):
        program = self.scratch / "small"
        small_program(program)
        self.assertIn("is a 32-bit i386 program, the preload library is 64-bit", self.tool("run", "--", program, status=126))
        try:
            job = self.running(program)
        except OSError as error:
            self.skipTest(f"this kernel runs no 32-bit program: {error}")
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
        job = self.running("sleep", "60")
        as_nobody = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        for command in ("attach", "off"):
            said = self.tool(command, job.pid, status=1, prefix=as_nobody)
            self.assertRegex(said, r"run as its user, 0, or as root|belongs to user 0, you are 65534: run as that user or as root")

    def test_a_missing_capability(self):
        """As in a container that was not given SYS_PTRACE."""
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("only root has capabilities to be without, and setpriv takes them")
        job = self.running("sleep", "60")
        without = ("setpriv", "--bounding-set=-sys_ptrace")
        words = "has capabilities that this command has not, and this command lacks CAP_SYS_PTRACE"
        for command in ("attach", "on"):
            self.assertIn(f"process {job.pid} {words}", self.tool(command, job.pid, status=1, prefix=without))
        self.assertIn(words, self.tool("doctor", job.pid, "--library", BUILT["library"], status=1, prefix=without))

    def test_a_thread_of_the_kernel(self):
        if not pathlib.Path("/proc/2/status").exists() or pathlib.Path("/proc/2/comm").read_text(encoding="utf-8") != "kthreadd\n":
            self.skipTest("no thread of the kernel is seen here")
        for words in (("attach", 2), ("on", 2), ("doctor", 2)):
            self.assertIn("is a thread of the kernel", self.tool(*words, status=1))

    def test_another_tracer(self):
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        job = self.running("sleep", "60")
        tracer = self.running("strace", "-qq", "-o", self.scratch / "trace", "-p", job.pid)
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
