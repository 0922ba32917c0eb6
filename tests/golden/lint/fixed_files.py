"""What --fix does to the file that it edits: hard links, links, mode, owner and attributes stay, and nothing is left half."""
import os
import pathlib
import select
import shutil
import signal
import subprocess
import time

import project

BAD = ("at::Tensor scores(at::Tensor q, const at::Tensor& k, const at::Tensor& w) {\n  q = q * w;\n  return attend(q, k, k);\n}\n"
       "int main() {\n  scores(torch::ones({2, 2}, at::kHalf), torch::ones({2, 2}, at::kHalf), torch::ones({2, 2}, at::kFloat));\n}\n")
FIXED = BAD.replace("q * w;", "(q * w).to(q.scalar_type());")


class FixedFiles(project.Case):
    def setUp(self):
        super().setUp()
        self.write(a__cpp=BAD)
        self.compiled("a.cpp")
        self.file = self.folder / "a.cpp"

    def fix(self, status=0):
        run = self.lint("-p", "build", "--fix")
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        self.assertEqual([p.name for p in self.folder.rglob("*.tmp")], [])
        return run

    def test_a_hard_link_stays_one(self):
        other = self.scratch / "other.cpp"
        os.link(self.file, other)
        before = self.file.stat().st_ino
        self.fix()
        self.assertEqual((self.file.read_text(), other.read_text()), (FIXED, FIXED))
        self.assertEqual((self.file.stat().st_ino, self.file.stat().st_nlink), (before, 2))
        baseline = self.scratch / "b.json"
        baseline.write_text("x" * 10_000)
        os.link(baseline, self.scratch / "c.json")
        self.assertEqual(self.lint("-p", "build", "--write-baseline", baseline).returncode, 0)
        self.assertTrue((self.scratch / "c.json").read_text().endswith("}\n"), "a shorter text leaves nothing of a longer one")

    def test_links_and_mode(self):
        real = self.folder / "real"
        real.mkdir()
        self.file.rename(real / "r.cpp")
        self.file.symlink_to("real/r.cpp")
        (real / "r.cpp").chmod(0o640)
        self.fix()
        self.assertTrue(self.file.is_symlink())
        self.assertEqual((real / "r.cpp").read_text(), FIXED)
        self.assertEqual((real / "r.cpp").stat().st_mode & 0o7777, 0o640)

    def test_attributes_stay(self):
        try:
            os.setxattr(self.file, "user.note", b"kept")
        except OSError:
            self.skipTest("this file system has no attributes")
        self.fix()
        self.assertEqual((self.file.read_text(), os.getxattr(self.file, "user.note")), (FIXED, b"kept"))

    def test_the_owner_stays(self):
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("only root gives files away")
        self.scratch.chmod(0o777)
        os.chown(self.file, 12345, 12346)
        self.fix()
        self.assertEqual((self.file.stat().st_uid, self.file.stat().st_gid), (12345, 12346))
        # One of a group edits what belongs to another.
        self.write(a__cpp=BAD)
        self.file.chmod(0o664)
        os.chown(self.folder, 65534, 12346)
        program = shutil.copy(project.LINT, self.scratch / "dtype-lint")
        shutil.copy(project.TORCH, self.scratch / "torch.h")
        self.entries[0]["command"] = self.entries[0]["command"].replace(project.TORCH, str(self.scratch / "torch.h"))
        self.compiled()
        run = subprocess.run(["setpriv", "--reuid=65534", "--regid=12346", "--clear-groups", program, "-p", "build", "--fix"],
                             cwd=self.folder, capture_output=True, text=True, check=False,
                             env={**os.environ, "XDG_CACHE_HOME": str(self.scratch / "unprivileged")})
        if "own headers" in run.stderr:
            self.skipTest("Clang's headers are out of reach")
        self.assertEqual((run.returncode, self.file.read_text()), (0, FIXED), run.stdout + run.stderr)
        self.assertEqual((self.file.stat().st_uid, self.file.stat().st_gid), (12345, 12346))
        self.assertEqual([p.name for p in self.folder.rglob("*.tmp")], [])

    def test_an_interrupt_waits_for_every_thread_that_writes(self):
        if not shutil.which("strace"):
            self.skipTest("no strace, which makes renaming slow")
        names = [f"f{i}.cpp" for i in range(6)]
        for name in names:
            (self.folder / name).write_text("int x;\n")
        self.compiled(*names)
        cache = self.scratch / "cache"
        for _ in range(2):
            shutil.rmtree(cache, ignore_errors=True)
            run = subprocess.Popen(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=rename", "-e",
                                    "inject=rename:delay_enter=800000", project.LINT, "-p", "build", "--jobs", "2"],
                                   cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   env={**os.environ, "XDG_CACHE_HOME": str(cache)})
            while run.poll() is None and not list(cache.rglob("*.tmp")):
                time.sleep(0.01)
            if run.poll() is not None:
                self.skipTest("strace may not trace here")
            pids = pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
            os.kill(int(pids[-1]), signal.SIGINT)
            run.communicate()
            self.assertEqual(run.returncode, -signal.SIGINT)
            self.assertEqual([p.name for p in cache.rglob("*.tmp")], [])

    def test_an_interrupt_does_not_wait_for_who_reads_from_a_pipe(self):
        self.write(a__cpp="".join(BAD.replace("main", f"m{i}").replace("scores", f"s{i}") for i in range(60)))
        os.mkfifo(self.folder / "pipe")
        reader = os.open(self.folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        run = subprocess.Popen([project.LINT, "-p", "build", "--format=json=pipe", "--format=html=/dev/null"], cwd=self.folder,
                               stdout=subprocess.DEVNULL, env={**os.environ, "XDG_CACHE_HOME": str(self.scratch / "cache")})
        while not select.select([reader], [], [], 0.1)[0] or not os.read(reader, 1):
            self.assertIsNone(run.poll())
            time.sleep(0.05)
        time.sleep(0.5)
        self.assertIsNone(run.poll(), "the report is longer than the pipe holds")
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(20), -signal.SIGTERM)

    def test_a_full_disk(self):
        place = self.scratch / "small"
        place.mkdir()
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", place], check=False,
                                               capture_output=True).returncode != 0:
            self.skipTest("no file system of 64 KiB can be mounted")
        self.addCleanup(subprocess.run, ["umount", place], check=True)
        (place / "s.cpp").write_text("")
        os.link(place / "s.cpp", place / "t.cpp")
        self.entries.clear()
        self.compiled("s.cpp", directory=place, flags=f"-I{self.folder}")
        text = BAD + "//" + "x" * (4096 - len(BAD) - 4) + "\n"  # one more byte is one more page
        (place / "s.cpp").write_text(text)
        with open(place / "filler", "wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(b"x" * 4096)
            except OSError:
                pass
        for links in (2, 1):
            run = self.lint("-p", "build", "--root", place, "--fix")
            self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
            self.assertIn("No space left on device", run.stderr)
            self.assertEqual((place / "s.cpp").read_text(), text)
            self.assertEqual((place / "s.cpp").stat().st_nlink, links)
            (place / "t.cpp").unlink(missing_ok=True)  # its blocks are those of the other name
        self.assertEqual(list(place.glob("*.tmp")), [])


project.main()
