#!/usr/bin/env python3
"""A copy of the checkout under a path with spaces: the preset configures, builds (neither optimised nor with debug
information, for the time it takes) and tests a part of it, and the Makefile refuses a preset that does not exist."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CMAKE = os.environ.get("CMAKE", "cmake")
SKIPPED = 77


def run(command, cwd, status=0):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(command, cwd=cwd, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={**environment, "DTYPE_GUARD_PACKAGES": "none"})
    if (done.returncode == 0) != (status == 0):
        print(f"{' '.join(map(str, command))}\nexit status {done.returncode}\n{done.stdout}")
        sys.exit(1)
    return done.stdout


def copy_checkout(target):
    listing = subprocess.run(["git", "-C", ROOT, "ls-files", "-coz", "--exclude-standard"], capture_output=True, text=True)
    if listing.returncode != 0:
        print(f"skipped: not a git checkout: {listing.stderr.strip()}")
        sys.exit(SKIPPED)
    for name in filter(None, listing.stdout.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def main():
    with tempfile.TemporaryDirectory(prefix="dtype guard ") as scratch:
        checkout = pathlib.Path(scratch) / "a clone"
        checkout.mkdir()
        copy_checkout(checkout)
        run([CMAKE, "--preset", "release", "-DDTYPE_GUARD_ANALYZER=OFF", "-DDTYPE_GUARD_TORCH=off",
             "-DDTYPE_GUARD_CUDA=off", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG="], checkout)
        run([CMAKE, "--build", "--preset", "release", "--target", "flash_ref", "plain_cpp_after", "dtype_san"], checkout)
        run([checkout / "build" / "examples" / "plain_cpp_after"], checkout)
        if not (checkout / "build" / "compile_commands.json").is_file():
            print("build/compile_commands.json was not written")
            sys.exit(1)
        if "No such preset" not in run(["make", "build", "PRESET=fastest"], checkout, status=1):
            print("make build PRESET=fastest does not say that there is no such preset")
            sys.exit(1)
        run(["make", "clean"], checkout)
        if (checkout / "build").exists():
            print("make clean left build/ behind")
            sys.exit(1)


if __name__ == "__main__":
    main()
