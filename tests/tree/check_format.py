#!/usr/bin/env python3
"""clang-format 14 has nothing to change in the tracked C and C++ files. Other versions format differently.

Skipped where that version is not installed, except in continuous integration (CI=true), where that is a failure."""
import os
import re
import shutil
import subprocess
import sys

from tracked import skip, tracked

VERSION = "14"


def formatter():
    for name in (f"clang-format-{VERSION}", "clang-format"):
        path = shutil.which(name)
        if path:
            said = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
            if re.search(rf"version {VERSION}\.", said):
                return path
    reason = f"clang-format {VERSION} is not installed"
    return sys.exit(reason) if os.environ.get("CI") == "true" else skip(reason)


if __name__ == "__main__":
    files = tracked("*.cpp", "*.h", "*.c", "*.cu", "*.cuh")
    done = subprocess.run([formatter(), "--dry-run", "-Werror", *files])
    print(f"{len(files)} files looked at")
    sys.exit(1 if done.returncode else 0)
