"""The Python with PyTorch that the tests of its jobs run in."""
import os
import subprocess
import sys

from support import BUILT, environment


def python_with_torch():
    for python in reversed(BUILT["torch_pythons"]):
        if os.access(python, os.X_OK) and subprocess.run(
                [python, "-c", "import torch; assert torch.__version__ >= '2'"], env=environment(), capture_output=True,
                check=False).returncode == 0:
            return python
    return None


PYTHON = python_with_torch()


def skip_without_torch():
    if PYTHON is None:
        print("skipped: no Python with PyTorch 2; make test sets it up, or tests/unit/rules/pytorch/torch_venv.sh BUILD")
        sys.exit(77)
