#!/usr/bin/env python3
"""Packs a build into a wheel: dtype-lint, dtype-san, the preload library, Clang's built-in headers, the package dtype_guard.

The programs are those that the build's tests run: nothing is compiled again. Installers put `scripts` where the interpreter
has its programs and `data` into its prefix, which is the layout of an installation, so the programs find their files as they
do there. auditwheel names the oldest glibc on which all of it runs; that goes into the file's name.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COMPONENTS = ("dtype-lint", "dtype-san")
LIMIT_MB = 25
NEWEST_GLIBC = (2, 36)  # of Debian 12, on which the build's LLVM was compiled
# Linked statically; their terms travel with the programs where the distribution keeps them.
CARRIED = ("libfmt-dev", "libdw-dev", "libelf-dev", "libzstd-dev", "zlib1g-dev", "liblzma-dev", "libbz2-dev")


def fail(message):
    sys.exit(f"make_wheel.py: {message}")


def run(*command):
    done = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def llvm_terms(build):
    cache = (build / "CMakeCache.txt").read_text()
    folder = re.search(r"^LLVM_DIR:[A-Z]*=.*/llvm-(\d+)/", cache, re.MULTILINE)
    return [f"libclang-{folder[1]}-dev"] if folder else []


def add_terms(build, licenses):
    licenses.mkdir()
    shutil.copy2(ROOT / "LICENSE", licenses / "LICENSE")
    for package in [*CARRIED, *llvm_terms(build)]:
        terms = pathlib.Path("/usr/share/doc") / package / "copyright"
        if terms.is_file():
            shutil.copy2(terms, licenses / f"{package}.txt")


def stage(build, folder):
    """The unpacked wheel below `folder`; its name and version."""
    metadata = (build / "generated" / "wheel" / "METADATA").read_text()
    version = re.search(r"^Version: (.*)$", metadata, re.MULTILINE)[1]
    name = f"dtype_guard-{version}"
    data = folder / f"{name}.data" / "data"
    for component in COMPONENTS:
        run("cmake", "--install", build, "--prefix", data, "--component", component, "--strip")
    for program in COMPONENTS:
        if not (data / "bin" / program).is_file():
            fail(f"{build} has no {program}; build it first (make wheel does)")
    (data / "bin").rename(data.parent / "scripts")
    shutil.rmtree(data / "share", ignore_errors=True)
    shutil.copytree(HERE / "dtype_guard", folder / "dtype_guard", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "dtype_guard" / "_version.py").write_text(f'"""The version of the build."""\n\n__version__ = "{version}"\n')
    info = folder / f"{name}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(metadata + (ROOT / "README.md").read_text())
    (info / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: dtype-guard\nRoot-Is-Purelib: false\n"
                                "Tag: py3-none-linux_x86_64\n")
    add_terms(build, info / "licenses")


def tagged(wheel, out):
    """The wheel under the name that says which glibc it needs; fails where a library of the machine is missing in it."""
    said = run(sys.executable, "-m", "auditwheel", "show", wheel)
    tag = re.search(r'platform tag:\s+"(manylinux_(\d+)_(\d+)_\w+)"', said)
    if not tag or (int(tag[2]), int(tag[3])) > NEWEST_GLIBC:
        fail(f"{wheel.name} would not run on other machines:\n{said}")
    run(sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", tag[1], wheel)
    made, = wheel.parent.glob("*.whl")
    if made.stat().st_size > LIMIT_MB * 1024 * 1024:
        fail(f"{made.name} is {made.stat().st_size / 1024 / 1024:.1f} MB, expected at most {LIMIT_MB}")
    out.mkdir(parents=True, exist_ok=True)
    return pathlib.Path(shutil.copy2(made, out / made.name))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True, help="a build with dtype-lint and dtype-san")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the folder for the wheel")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dtype-guard-wheel-") as scratch:
        tree, packed = pathlib.Path(scratch, "tree"), pathlib.Path(scratch, "packed")
        tree.mkdir()
        packed.mkdir()
        stage(options.build.resolve(), tree)
        run(sys.executable, "-m", "wheel", "pack", tree, "--dest-dir", packed)
        wheel, = packed.glob("*.whl")
        made = tagged(wheel, options.out)
    print(f"{made}  {made.stat().st_size / 1024 / 1024:.1f} MB")


if __name__ == "__main__":
    main()
