"""Python frames stand where the interpreter's C frames were, without the GIL."""
import glob
import os
import shutil
import subprocess
import sys

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

    def expect_frames(self, version, method="Layer.forward"):
        finding, _ = self.run_with(version)
        frames = [(frame["language"], frame["function"], frame["line"]) for frame in finding["backtrace"][:4]]
        self.assertEqual(frames[:2], [("python", "apply_rotary", marked_line("ctypes_calls.py", "ctypes")),
                                      ("python", method, marked_line("ctypes_calls.py", "forward"))])
        self.assertEqual([function for _, function, _ in frames[2:]], ["main", "<module>"])
        self.assertTrue(finding["location"]["file"].endswith("programs/ctypes_calls.py"))
        self.assertNotIn("_PyEval_EvalFrameDefault", [frame["function"] for frame in finding["backtrace"]])

    def test_3_10(self):
        """Which has no qualified names."""
        self.expect_frames("3.10", "forward")

    def test_3_11(self):
        self.expect_frames("3.11")

    def test_3_12(self):
        self.expect_frames("3.12")

    def test_3_13(self):
        self.expect_frames("3.13")

    def test_3_14(self):
        self.expect_frames("3.14")

    def test_names_that_are_not_ascii(self):
        if BUILT["sanitized"] or interpreter("3.11") is None:
            self.skipTest("no python3.11 on this machine, or an instrumented library, which cannot be loaded into it")
        # The widths that a string of Python has, and a byte that no encoding has.
        for name, shown in (("jé.py", "jé.py"), ("模型.py", "模型.py"), ("a😀é.py", "a😀é.py"), (b"b\xff.py", "b\ufffd.py"),
                            ("ä" * 90 + "模.py", "ä" * 75 + "模.py")):
            file = os.path.join(self.scratch, os.fsdecode(name))
            shutil.copy(PROGRAM, file)
            for locale in ("C", "C.UTF-8"):
                done, report = self.run_command(interpreter("3.11"), file, BUILT["kernels"], LC_ALL=locale)
                self.assertEqual(len(report["findings"]), 1, done.stderr)
                (finding,) = report["findings"]
                self.assertTrue(finding["location"]["file"].endswith(shown), finding["location"])

    def many(self, *words):
        if BUILT["sanitized"]:
            self.skipTest("an instrumented library cannot be loaded into Python")
        done, report = self.run_command(sys.executable, BUILT["source"] + "/programs/many_callers.py", BUILT["kernels"], *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        if f"{sys.version_info[0]}.{sys.version_info[1]}" not in ("3.10", "3.11", "3.12", "3.13", "3.14") or not hasattr(sys, "_getframe"):
            self.skipTest("Python frames of this version are not known")
        return report

    def test_each_line_of_each_function_is_a_finding(self):
        report = self.many("lines")
        callers = sorted((finding["backtrace"][2]["function"], finding["count"]) for finding in report["findings"])
        self.assertEqual(callers, [("both", 1), ("both", 1), ("f1", 1), ("f2", 1), ("f3", 1), ("f4", 1)])
        self.assertEqual(len({finding["backtrace"][2]["line"] for finding in report["findings"]}), 6)

    def test_a_helper_that_many_functions_call(self):
        report = self.many("helper", 20)
        self.assertEqual({finding["backtrace"][2]["function"]: finding["count"] for finding in report["findings"]},
                         {f"caller_{number}": 20 for number in range(60)})
        self.assertEqual(report["not_analysed"], [])

    def test_the_function_that_wrote_the_operand(self):
        [finding] = self.many("writers")["findings"]
        [step] = finding["path"]
        self.assertIn("write_second", [frame["function"] for frame in step["backtrace"]])
        self.assertNotIn("write_first", [frame["function"] for frame in step["backtrace"]])

    def test_unknown_version_is_said(self):
        finding, report = self.run_with("3.9")
        self.assertNotIn("python", [frame["language"] for frame in finding["backtrace"]])
        self.assertIn("no Python frames in the stacks: the layout of this CPython version is not known",
                      " ".join(entry["detail"] for entry in report["not_analysed"]))

    def test_3_15_is_said(self):
        """By a program that has what the recorder asks of an interpreter, with the number of that release."""
        if BUILT["sanitized"]:
            self.skipTest("an instrumented library is in the program already")
        _, report = self.run_command(BUILT["later_python"])
        self.assertEqual(sum(finding["count"] for finding in report["findings"]), 2)  # every other one of four calls is wrong
        self.assertIn("no Python frames in the stacks: the layout of this CPython version is not known (3.10 to 3.14 are)",
                      " ".join(entry["detail"] for entry in report["not_analysed"]))

    def test_off(self):
        version = next(one for one in ("3.11", "3.12", "3.13", "3.10") if interpreter(one))
        finding, _ = self.run_with(version, "--options=python=off")
        self.assertNotIn("python", [frame["language"] for frame in finding["backtrace"]])


if __name__ == "__main__":
    main()
