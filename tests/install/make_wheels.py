#!/usr/bin/env python3
"""Makes the wheels for the other tests.

    make_wheels.py BUILD
"""
import shutil
import subprocess
import sys

from wheel_support import ROOT, SKIPPED, TOOLS, WHEELS, BUILD

shutil.rmtree(WHEELS, ignore_errors=True)
if not (TOOLS / "python").exists():
    print("skipped: no tools for a wheel in BUILD/.wheel-tools; make test sets them up where a package index can be reached")
    sys.exit(SKIPPED)
sys.exit(subprocess.run([TOOLS / "python", ROOT / "cmake" / "wheel" / "make_wheel.py", "--build", BUILD, "--out", WHEELS], check=False).returncode)
