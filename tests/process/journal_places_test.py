"""Where journals lie: each is read once under whatever names, and a place that cannot be read or written is named as such."""
import os
import shutil
import subprocess
import sys

from support import BUILT, LONG, Case, environment, main, preloadable

UNPRIVILEGED = 65534


class Twice(Case):
    def counted(self, *paths):
        done, report = self.report(*paths)
        self.assertEqual(done.returncode, 1, done.stderr)
        return (report["watched"]["calls"]["flash_ref_rotary"], [finding["count"] for finding in report["findings"]],
                len(report["watched"]["processes"]))

    def test_named_twice(self):
        self.assertEqual(self.preloaded(BUILT["linked_calls"]).returncode, 0)
        folder = self.scratch / "journal"
        [journal] = self.journals()
        once = (4, [2], 1)
        self.assertEqual(self.counted(folder), once)
        self.assertEqual(self.counted(folder, journal), once)
        self.assertEqual(self.counted(journal, folder / "." / journal.name, folder), once)
        link = self.scratch / "link.dtype-san"
        link.symlink_to(journal)
        self.assertEqual(self.counted(folder, link), once)

    def test_a_copy_that_was_cut_short(self):
        self.assertEqual(self.preloaded(BUILT["linked_calls"]).returncode, 0)
        [journal] = self.journals()
        for name, size in (("a", None), ("b", 300)):
            copy = self.scratch / f"{name}.dtype-san"
            copy.write_bytes(journal.read_bytes()[:size])
            for order in ((copy, journal), (journal, copy)):
                self.assertEqual(self.counted(*order), (4, [2], 1), order)

    def test_two_runs_are_two(self):
        for _ in range(2):
            self.assertEqual(self.preloaded(BUILT["linked_calls"]).returncode, 0)
        self.assertEqual(self.counted(self.scratch / "journal"), (8, [4], 2))


class Unnamed(Case):
    def report_of_default(self, **changes):
        return self.execute(BUILT["command"], "report", TMPDIR=str(self.scratch), **changes)

    def test_the_newest_of_a_preloaded_job(self):
        folder = self.scratch / f"dtype-san-{os.geteuid()}"
        run = self.execute(BUILT["linked_calls"], LD_PRELOAD=preloadable(BUILT["library"]), TMPDIR=str(self.scratch))
        self.assertEqual(run.returncode, 0, run.stderr)
        [first] = folder.glob("*.dtype-san")
        done = self.report_of_default()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"report: no JOURNAL is named: '{first}'", done.stderr)
        self.assertIn("rotary-dtype-mismatch", done.stdout)
        # A job of an hour before is another one.
        old = folder / "a.1.1.dtype-san"
        shutil.copy(first, old)
        os.utime(old, (first.stat().st_mtime - 3600,) * 2)
        done = self.report_of_default()
        self.assertIn(f"1 of 2: {first}", done.stderr)

    def test_quiet_leaves_the_findings(self):
        for words, status in ((("run", "-q", "--", BUILT["linked_calls"]), 0),
                              (("run", "--quiet", "--options", "symbolize=0", "--", BUILT["linked_calls"]), 0)):
            done = self.execute(BUILT["command"], *words)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn("[rotary-dtype-mismatch]", done.stderr)
            self.assertNotIn("warning", done.stderr.splitlines()[-1])
            self.assertNotIn("watched:", done.stderr)

    def test_none_is_there(self):
        done = self.report_of_default()
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("holds none of yours", done.stderr)


class Refused(Case):
    def as_unprivileged(self, *words, **changes):
        if os.geteuid() != 0:
            return self.execute(*words, **changes)
        if shutil.which("setpriv") is None:
            self.skipTest("root may read everything, and setpriv, which makes another user, is not installed")
        unprivileged = ("setpriv", f"--reuid={UNPRIVILEGED}", f"--regid={UNPRIVILEGED}", "--clear-groups")
        if self.execute(*unprivileged, BUILT["command"], "--version").returncode != 0:
            self.skipTest("another user cannot read the build folder")
        return self.execute(*unprivileged, *words, **changes)

    def test_a_folder_that_cannot_be_read(self):
        self.assertEqual(self.preloaded(BUILT["linked_calls"]).returncode, 0)
        self.scratch.chmod(0o755)
        folder = self.scratch / "journal"
        folder.chmod(0o311)
        self.addCleanup(folder.chmod, 0o700)
        done = self.as_unprivileged(BUILT["command"], "report", folder)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn(f"{folder}: this directory cannot be read: Permission denied", done.stderr)
        self.assertNotIn("no journal", done.stdout + done.stderr)

    def test_a_folder_that_cannot_be_made(self):
        place = self.scratch / "fixed"
        place.mkdir()
        self.scratch.chmod(0o755)
        place.chmod(0o555)
        done = self.as_unprivileged(BUILT["linked_calls"], LD_PRELOAD=preloadable(BUILT["library"]),
                                    DTYPE_SAN_OPTIONS=f"journal={place}/new")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"cannot create a journal at '{place}/new': permission denied", done.stderr)
        self.assertNotIn("no such file", done.stderr)


class Full(Case):
    def full_disk(self):
        """A disk without room, all of it taken by the file "filler"."""
        folder = self.scratch / "full"
        folder.mkdir()
        words = ("mount", "-t", "tmpfs", "-o", "size=64k", "none", folder)
        mounted = subprocess.run(words, capture_output=True, text=True, check=False)
        if mounted.returncode != 0:
            self.skipTest(f"no file system can be mounted here: {mounted.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", folder], check=True)
        with self.assertRaises(OSError), open(folder / "filler", "wb", buffering=0) as filler:
            while True:
                filler.write(bytes(4096))
        return folder

    def test_no_promise_on_a_full_disk(self):
        folder = self.full_disk()
        done = self.execute(BUILT["linked_calls"], LD_PRELOAD=preloadable(BUILT["library"]), DTYPE_SAN_OPTIONS=f"journal={folder}")
        [journal] = folder.glob("*.dtype-san")
        self.assertEqual((done.returncode, journal.stat().st_size), (0, 0))
        self.assertIn("the journal cannot be written: no space left on device", done.stderr)
        self.assertRegex(done.stderr, f"1 finding in process [0-9]+, not recorded: journal '{journal}' could not be written")
        self.assertNotIn("prints", done.stderr)

    def test_a_disk_that_has_room_again(self):
        """The finding is written when it occurs again, and with it what the journal lacked: the process, its libraries."""
        folder = self.full_disk()
        job = subprocess.Popen([BUILT["long_job"], "k"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=environment(LD_PRELOAD=preloadable(BUILT["library"]), DTYPE_SAN_OPTIONS=f"journal={folder}"))
        self.assertEqual(job.stdout.readline(), "ready\n")
        (folder / "filler").unlink()
        [journal] = folder.glob("*.dtype-san")
        self.until(lambda: journal.stat().st_size != 0)
        calls = int(job.communicate(timeout=LONG)[0].split()[1])
        done, report = self.report(journal)
        self.assertEqual(done.returncode, 3)
        self.assertIn("records are missing (no space left on device)", done.stderr)
        [process] = report["watched"]["processes"]
        self.assertEqual((process["pid"], process["complete"]), (job.pid, True))
        self.assertEqual(len(report["watched"]["libraries"]), 1)
        [finding] = report["findings"]
        self.assertEqual(finding["count"], calls)

    def test_a_relative_folder_is_that_of_the_start(self):
        """Wherever the program goes before it forks: its children's journals lie beside its own."""
        elsewhere = self.scratch / "elsewhere"
        elsewhere.mkdir()
        program = ("import os, runpy, sys; os.chdir(sys.argv[1]); sys.argv = sys.argv[2:]; child = os.fork()\n"
                   "if child: os.waitpid(child, 0)\n"
                   "runpy.run_path(sys.argv[0], run_name='__main__')\n")
        if BUILT["sanitized"]:
            self.skipTest("an instrumented library cannot be loaded into Python")
        done = self.execute(sys.executable, "-c", program, elsewhere, BUILT["source"] + "/programs/ctypes_calls.py", BUILT["kernels"],
                            LD_PRELOAD=preloadable(BUILT["library"]), DTYPE_SAN_OPTIONS="journal=journal:print_summary=0:verbosity=1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((len(self.journals()), list(elsewhere.iterdir())), (2, []))
        for journal in self.journals():  # which verbosity=1 names
            self.assertIn(f": journal '{journal}'\n", done.stderr)

    def test_the_promise_where_it_was_written(self):
        done = self.preloaded(BUILT["linked_calls"])
        [journal] = self.journals()
        self.assertIn(f", journal '{journal}'; 'dtype-san report' prints it", done.stderr)


if __name__ == "__main__":
    main()
