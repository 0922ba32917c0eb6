#!/usr/bin/env python3
"""Packs the build into a wheel, installs that into an empty environment and uses it where no LLVM is installed: lints a Python
and a C++ file, watches a PyTorch job, and watches a block of one from within."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = None
CLANG = False
TORCH = None
SKIPPED = 77
# In a namespace of its own, the folders of LLVM are empty ones: what the wheel needs of the machine is then missed.
HIDDEN = ['for folder in /usr/lib/llvm-* /usr/lib/clang; do [ -d "$folder" ] && mount -t tmpfs none "$folder"; done; exec "$@"']


def run(*command, **settings):
    return subprocess.run([str(part) for part in command], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, **settings)


def done(*command, **settings):
    result = run(*command, **settings)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: {result.returncode}\n{result.stdout}\n{result.stderr}")
    return result.stdout


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="dtype guard ")
        cls.addClassCleanup(folder.cleanup)
        cls.scratch = pathlib.Path(folder.name)
        done(BUILD / ".wheel-tools" / "bin" / "python", ROOT / "cmake" / "wheel" / "make_wheel.py", "--build", BUILD,
             "--out", cls.scratch / "out")
        cls.wheel, = (cls.scratch / "out").glob("*.whl")
        done(sys.executable, "-m", "venv", cls.scratch / "first")
        done(cls.scratch / "first" / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
             "--disable-pip-version-check", cls.wheel)
        cls.bin = cls.scratch / "first" / "bin"
        cls.hiding = []
        if run("unshare", "-rm", "true").returncode == 0:
            cls.hiding = ["unshare", "-rm", "sh", "-c", *HIDDEN, "sh"]
        else:
            print("no namespaces here: LLVM's folders are not hidden from the installed commands")

    def test_name_says_what_it_needs(self):
        needs = re.fullmatch(r"dtype_guard-[\d.]+-py3-none-manylinux_2_(\d+)_\w+\.whl", self.wheel.name)
        self.assertTrue(needs, self.wheel.name)
        self.assertLessEqual(int(needs[1]), 34)

    def test_commands_and_module_have_one_version(self):
        versions = {done(self.bin / name, "--version").split()[1] for name in ("dtype-lint", "dtype-san")}
        versions.add(done(self.bin / "python", "-m", "dtype_guard", "--version").split()[1])
        self.assertEqual(versions, {self.wheel.name.split("-")[1]})

    def lint(self, status, *words):
        report = self.scratch / "lint.json"
        report.unlink(missing_ok=True)
        result = run(*self.hiding, self.bin / "dtype-lint", "--no-cache", "--quiet", f"--format=json={report}", *words)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return [(each["rule"], each["location"]["file"].rsplit("/", 1)[-1]) for each in json.loads(report.read_text())["findings"]]

    def test_lints_python(self):
        self.assertIn(("autocast-fp32-operator", "before.py"), self.lint(1, ROOT / "examples" / "var" / "before.py"))
        self.assertEqual(self.lint(0, ROOT / "examples" / "var" / "after.py"), [])

    def test_lints_cpp(self):
        if not CLANG:
            self.skipTest("this build's dtype-lint reads Python alone (DTYPE_GUARD_CLANG is off)")
        for version, status, expected in (("before", 1, ["before.cpp"]), ("after", 0, [])):
            source = ROOT / "examples" / "plain_cpp" / f"{version}.cpp"
            found = self.lint(status, source, "--", "-std=c++20", f"-I{ROOT / 'kernels' / 'include'}")
            self.assertEqual([file for rule, file in found if rule == "attention-implicit-promotion"], expected)

    def test_module_runs_the_command(self):
        direct = run(self.bin / "dtype-lint", "--no-cache", ROOT / "examples" / "var" / "before.py")
        module = run(self.bin / "python", "-m", "dtype_guard", "lint", "--no-cache", ROOT / "examples" / "var" / "before.py")
        self.assertEqual((module.returncode, module.stdout), (direct.returncode, direct.stdout))
        wrong = run(self.bin / "python", "-m", "dtype_guard", "lnt")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("'lnt' is no command, expected lint or san", wrong.stderr)

    def job(self, text):
        """The environment in which a script has PyTorch and dtype_guard, and the script."""
        if not TORCH:
            self.skipTest("no Python with PyTorch in BUILD/.venv; make test sets it up")
        script = self.scratch / "job.py"
        script.write_text(text)
        packages = [next((self.scratch / "first").glob("lib/python*/site-packages")), TORCH]
        return script, {**os.environ, "PYTHONPATH": ":".join(map(str, packages))}

    def test_watches_a_pytorch_job(self):
        script, environment = self.job(MIXED)
        report = self.scratch / "run.json"
        result = run(self.bin / "dtype-san", "run", f"--format=json={report}", "--", self.bin / "python", script, env=environment)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)  # as the job ended
        found, = json.loads(report.read_text())["findings"]
        self.assertEqual(found["rule"], "attention-mixed-dtypes")

    def test_watches_a_block(self):
        script, environment = self.job(MIXED_BLOCK)
        result = run(self.bin / "python", script, env=environment)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        before, found = result.stdout.splitlines()
        self.assertEqual(before, "[] 1")
        self.assertEqual(found, "['attention-mixed-dtypes'] True")

    def test_a_process_that_cannot_be_joined_says_so(self):
        script, environment = self.job("import dtype_guard\nwith dtype_guard.watch('depth=x'):\n    pass\n")
        result = run(self.bin / "python", script, env=environment)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("WatchError", result.stderr)

    def test_nothing_is_left_when_it_is_removed(self):
        other = self.scratch / "second"
        done(sys.executable, "-m", "venv", other)
        python = other / "bin" / "python"
        before = sorted(path.relative_to(other) for path in other.rglob("*"))
        done(python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile", self.wheel)
        self.assertTrue((other / "bin" / "dtype-lint").is_file())
        done(python, "-m", "pip", "uninstall", "--quiet", "--yes", "dtype-guard")
        # pip leaves the folders of what lay outside its packages, empty.
        after = sorted(path.relative_to(other) for path in other.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        self.assertEqual([path for path in after if path not in before], [])


MIXED = """
import torch
import torch.nn.functional as F
q = torch.randn(1, 2, 8, 16)
k = v = torch.randn(1, 2, 8, 16, dtype=torch.bfloat16)
try:
    F.scaled_dot_product_attention(q, k, v)
except RuntimeError:
    pass
"""

MIXED_BLOCK = """
import torch
import torch.nn.functional as F
import dtype_guard
half = torch.randn(1, 2, 8, 16, dtype=torch.bfloat16)
with dtype_guard.watch() as right:
    F.scaled_dot_product_attention(half, half, half)
print([each.rule for each in right], right.calls)
with dtype_guard.watch() as wrong:
    try:
        F.scaled_dot_product_attention(half.float(), half, half)
    except RuntimeError:
        pass
print([each.rule for each in wrong.findings], "attention-mixed-dtypes" in wrong._repr_html_())
"""


def main():
    global BUILD, CLANG, TORCH
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--clang", choices=("0", "1"), required=True)
    options, rest = parser.parse_known_args()
    BUILD, CLANG = options.build, options.clang == "1"
    if not (BUILD / ".wheel-tools").is_dir():
        print("skipped: no tools for a wheel in BUILD/.wheel-tools; make test sets them up where a package index can be reached")
        sys.exit(SKIPPED)
    packages = sorted((BUILD / ".venv").glob("lib/python*/site-packages"))
    TORCH = packages[0] if packages else None
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
