#!/usr/bin/env python3
"""The Python package beside this build, before a wheel is made of it: it writes the pages that the library reads, in the layout that this
library has.

    joins_test.py BUILD
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1]).resolve()
BLOCKS = """
import dtype_guard
from dtype_guard import _library
with dtype_guard.watch("stack_depth=8") as found:
    print(_library._control().on, len(_library.journals()))
print(_library._control().on, _library._mailbox.problem, found.problems, found)
"""


class Joins(unittest.TestCase):
    def test_a_process_joins_itself(self):
        with tempfile.TemporaryDirectory() as scratch:
            package = pathlib.Path(scratch, "dtype_guard")
            shutil.copytree(ROOT / "cmake" / "wheel" / "dtype_guard", package)
            (package / "installed" / "bin").mkdir(parents=True)
            (package / "installed" / "bin" / "dtype-san").symlink_to(BUILD / "bin" / "dtype-san")
            (package / "_version.py").write_text("__version__ = \"0\"\n")
            done = subprocess.run([sys.executable, "-c", BLOCKS], cwd=scratch, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)
        self.assertEqual(done.stdout.splitlines(), ["1 1", "0 b'' [] no attention or rotary call was seen in this block"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
