"""Python frames stand where the interpreter's C frames were, without the GIL."""
import glob
import os
import shutil
import subprocess

from support import BUILT, Case, main, marked_line

PROGRAM = BUILT["source"] + "/programs/ctypes_calls.py"


def works(path, version):
    done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    return done.returncode == 0 and done.stdout.startswith(f"Python {version}.")


def interpreter(version):
    """A Python of that version, or None. What stands in PATH may be a script that finds none."""
    found = glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python{version}"))
    return next((path for path in [shutil.which(f"python{version}"), *found] if path and works(path, version)), None)


class Python(Case):
    def run_with(self, version, *options):
        if BUILT["sanitized"]:
            self.skipTest("an instrumented library cannot be loaded into Python")
        found = interpreter(version)
        if found is None:
            self.skipTest(f"no python{version} on this machine")
        done, report = self.run_command(found, PROGRAM, BUILT["kernels"], options=options)
        self.assertEqual((done.returncode, done.stdout), (0, "status 0\nstatus 3\n" * 2), done.stderr)
        self.assertEqual(report["watched"]["calls"]["flash_ref_rotary"], 4)
        (finding,) = report["findings"]
        self.assertEqual(finding["count"], 2)
        return finding, report

    def expect_frames(self, version):
        finding, _ = self.run_with(version)
        frames = [(frame["language"], frame["function"], frame["line"]) for frame in finding["backtrace"][:4]]
        self.assertEqual(frames[:2], [("python", "apply_rotary", marked_line("ctypes_calls.py", "ctypes")),
                                      ("python", "Layer.forward", marked_line("ctypes_calls.py", "forward"))])
        self.assertEqual([function for _, function, _ in frames[2:]], ["main", "<module>"])
        self.assertTrue(finding["location"]["file"].endswith("programs/ctypes_calls.py"))
        self.assertNotIn("_PyEval_EvalFrameDefault", [frame["function"] for frame in finding["backtrace"]])

    def test_3_11(self):
        self.expect_frames("3.11")

    def test_3_12(self):
        self.expect_frames("3.12")

    def test_3_13(self):
        self.expect_frames("3.13")

    def test_unknown_version_is_said(self):
        finding, report = self.run_with("3.10")
        self.assertNotIn("python", [frame["language"] for frame in finding["backtrace"]])
        self.assertIn("no Python frames in the stacks: the layout of this CPython version is not known",
                      " ".join(entry["detail"] for entry in report["not_analysed"]))

    def test_off(self):
        version = next(one for one in ("3.11", "3.12", "3.13") if interpreter(one))
        finding, _ = self.run_with(version, "--options=python=off")
        self.assertNotIn("python", [frame["language"] for frame in finding["backtrace"]])


if __name__ == "__main__":
    main()
