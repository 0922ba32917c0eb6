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
if subprocess.run([TOOLS / "python", "-c", "import ziglang"], check=False, capture_output=True).returncode == 0:
    # Where they can be linked there is a second wheel, of programs as old as these.
    subprocess.run(["cmake", "--build", BUILD, "--target", "old_glibc"], check=True)
sys.exit(subprocess.run([TOOLS / "python", ROOT / "cmake" / "wheel" / "make_wheel.py", "--build", BUILD, "--out", WHEELS], check=False).returncode)
