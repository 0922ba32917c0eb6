"""What doctor, attach, on and off say of processes that are unlike others: ended, without a kernel so far, of a strange name, or
with files that were taken away while they are in use."""
import os
import pathlib
import shutil
import subprocess

from attach_support import PauseCase
from support import BUILT, ask, environment, main, preloadable


class Doctor(PauseCase):
    def test_a_process_that_has_ended(self):
        gone = self.ended()
        for command in ("on", "off", "detach"):
            done = self.execute(BUILT["command"], command, gone.pid)
            self.assertEqual((done.returncode, done.stderr),
                             (1, f"dtype-san: process {gone.pid} has ended and waits for its parent\n"))
        self.assertIn("cannot be attached to: it has ended and waits for its parent", self.tool("doctor", gone.pid, status=1))

    def test_a_library_without_a_kernel_so_far(self):
        job = self.echo(LD_PRELOAD=preloadable(BUILT["library"]))
        words = "has the library in it, which has met no watched library yet (or was told enabled=0)"
        self.assertIn(f"ok   {words}", self.tool("doctor", job.pid))
        self.assertIn(f"process {job.pid} {words}", self.tool("attach", job.pid, status=1))
        done = self.execute(BUILT["command"], "off", job.pid)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"process {job.pid} {words}", done.stderr)

    def own_files(self):
        """A folder with copies of the library and of the kernels."""
        folder = self.scratch / "own"
        folder.mkdir()
        for name in ("library", "kernels"):
            shutil.copy2(BUILT[name], folder / pathlib.Path(BUILT[name]).name)
        return folder, folder / pathlib.Path(BUILT["library"]).name, folder / pathlib.Path(BUILT["kernels"]).name

    def long_job(self, folder, **more):
        job = subprocess.Popen([BUILT["long_job"], "k"], env=environment(LD_LIBRARY_PATH=str(folder), **more), cwd=self.scratch, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        self.assertEqual(job.stdout.readline(), "ready\n")
        maps = pathlib.Path(f"/proc/{job.pid}/maps").read_text(encoding="utf-8")
        if str(folder) not in maps:
            self.skipTest("the job has not loaded the copies")
        return job

    def gone(self, path):
        """What doctor says of kernels whose file is gone: root may look at it all the same."""
        return (f"'{path} (deleted)' holds flash_ref with an observer slot" if os.geteuid() == 0 else
                f"'{path} (deleted)' was removed or replaced while it is in use")

    def test_files_that_were_taken_away(self):
        for replaced in (False, True):
            with self.subTest(replaced=replaced):
                folder, library, kernels = self.own_files()
                job = self.long_job(folder, LD_PRELOAD=preloadable(str(library)), DTYPE_SAN_OPTIONS=self.options() + ":print_summary=0")
                self.assertNotIn("removed", self.tool("doctor", job.pid))
                for path, built in ((library, "library"), (kernels, "kernels")):
                    path.unlink()
                    if replaced:
                        shutil.copy2(BUILT[built], path)
                said = self.tool("doctor", job.pid)
                self.assertIn(f"note '{library}' was removed or replaced since: the process goes on with what it has loaded", said)
                self.assertIn("switched on: 'dtype-san off", said)
                self.assertIn(self.gone(kernels), said)
                self.assertNotIn("no copy of flash_ref is loaded", said)
                for word in ("off", "on"):
                    self.assertEqual(self.execute(BUILT["command"], word, job.pid).returncode, 0)
                self.assertIn("has the library already", self.tool("attach", job.pid, "--options", self.options()))
                self.finish(job)
                shutil.rmtree(folder)

    def test_joined_without_its_kernels_file(self):
        folder, _, kernels = self.own_files()
        job = self.long_job(folder)
        kernels.unlink()
        self.assertIn(self.gone(kernels), self.tool("doctor", job.pid))
        self.assertIn("1 copy of flash_ref watched", self.tool("attach", job.pid, "--options", self.options()))
        self.assertEqual(ask(job), "called\n")
        self.finish(job)
        _, report = self.report(self.scratch / "journal")
        self.assertEqual([finding["rule"] for finding in report["findings"]], ["rotary-dtype-mismatch"])

    def test_a_name_with_a_line_end(self):
        for name in ("two\nlines", "a\\012b", "quo'te \t\x1b"):
            with self.subTest(name=name):
                program = self.scratch / name
                shutil.copy2(BUILT["long_job"], program)
                job = self.start(program, "k")
                self.assertIn("can be attached to", self.tool("doctor", job.pid))
                said = self.tool("attach", job.pid, "--options", self.options())
                self.assertIn("1 copy of flash_ref watched", said)
                self.assertNotIn("\x1b", said)
                self.assertEqual(ask(job), "called\n")
                self.finish(job)
                _, report = self.report(self.scratch / "journal")
                [finding] = report["findings"]
                self.assertIn("rotate", finding["backtrace"][0]["function"])
                for journal in self.journals():
                    journal.unlink()


if __name__ == "__main__":
    main()
