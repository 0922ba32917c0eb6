"""What the tests of the wheel share: the wheels that the test install.wheels has made, an environment with one, and PyTorch for it."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1]).resolve()
WHEELS = BUILD / "tests" / "install" / "wheels"
TOOLS = BUILD / ".wheel-tools" / "bin"
SKIPPED = 77
FIRST = sorted(each for each in WHEELS.glob("dtype_guard-*.whl") if "manylinux2014" not in each.name)
SECOND = sorted(WHEELS.glob("dtype_guard-*manylinux2014_*.whl"))


def run(*command, **settings):
    return subprocess.run([str(part) for part in command], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, **settings)


def done(*command, **settings):
    result = run(*command, **settings)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: {result.returncode}\n{result.stdout}\n{result.stderr}")
    return result.stdout


def install(wheel, folder, *more):
    """A new environment with this wheel and nothing else; its folder of programs."""
    done(sys.executable, "-m", "venv", folder)
    done(folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check", *more, wheel)
    return folder / "bin"


def install_fast(wheel, folder, python=None):
    """The same by the pip of the tools, which is not set up anew in each environment."""
    done(python or sys.executable, "-m", "venv", "--without-pip", folder)
    done(TOOLS / "python", "-m", "pip", "--python", folder / "bin" / "python", "install", "--quiet", "--no-index", "--no-deps",
         "--disable-pip-version-check", wheel)
    return folder / "bin"


class Case(unittest.TestCase):
    """Tests of one environment with the first wheel, below a folder with a blank in its name."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="dtype guard ")
        cls.addClassCleanup(folder.cleanup)
        cls.scratch = pathlib.Path(folder.name)
        cls.bin = install(FIRST[0], cls.scratch / "first")

    def with_torch(self):
        """An environment variable's worth of PyTorch beside dtype_guard."""
        torch = sorted((BUILD / ".venv").glob("lib/python*/site-packages"))
        if not torch:
            self.skipTest("no Python with PyTorch in BUILD/.venv; make test sets it up")
        packages = next((self.scratch / "first").glob("lib/python*/site-packages"))
        if packages.parts[-2] != torch[0].parts[-2]:
            self.skipTest(f"PyTorch in BUILD/.venv is for {torch[0].parts[-2]}, and the tests run under {packages.parts[-2]}")
        return {**os.environ, "PYTHONPATH": f"{packages}:{torch[0]}", "PYTHONWARNINGS": "ignore"}

    def script(self, text, *before, more=None, **settings):
        """Runs a Python script of this text, after the words of `before`, with `more` in its environment."""
        file = self.scratch / "job.py"
        file.write_text(text)
        return run(*before, self.bin / "python", file, env={**self.with_torch(), **(more or {})}, cwd=self.scratch, **settings)


def main():
    if not FIRST:
        print(f"skipped: no wheel in {WHEELS}; install.wheels says why")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
