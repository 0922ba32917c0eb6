#!/usr/bin/env python3
"""Stands before the compiler where CMake links a program, and links it for an older glibc than the machine's.

    link_for_glibc.py RELEASE CXX ARGUMENT...

The objects are those of the build; the C library that they are linked with is a list of what RELEASE of glibc has, which the
package ziglang (beside this interpreter) makes. A symbol that RELEASE lacks is an error of the link. libstdc++ is CXX's static
one, libgcc_s its shared one, which every distribution has.
"""
import os
import pathlib
import platform
import subprocess
import sys


def file_of(compiler, name):
    found = subprocess.run([compiler, f"-print-file-name={name}"], text=True, stdout=subprocess.PIPE, check=True).stdout.strip()
    if not pathlib.Path(found).is_absolute():
        sys.exit(f"link_for_glibc.py: {compiler} has no {name}")
    return found


def main():
    release, compiler, *arguments = sys.argv[1:]
    # The machine's libgcc_s asks for the machine's glibc; the program asks it for what every libgcc_s has.
    libraries = [file_of(compiler, name) for name in ("libstdc++.a", "libgcc_s.so.1", "libgcc.a")]
    given = [each for each in arguments if each not in ("-static-libstdc++", "-static-libgcc")]
    command = [sys.executable, "-m", "ziglang", "cc", "-target", f"{platform.machine()}-linux-gnu.{release}",
               "-Wl,--allow-shlib-undefined", *given, *libraries]
    cache = str(pathlib.Path(sys.prefix) / "zig-cache")
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
