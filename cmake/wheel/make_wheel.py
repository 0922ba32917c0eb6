#!/usr/bin/env python3
"""Packs a build into wheels: dtype-lint, dtype-san, the preload library, Clang's built-in headers, the package dtype_guard.

The programs are those that the build's tests run: nothing is compiled again. Installers put `scripts` where the interpreter
has its programs and `data` into its prefix, which is the layout of an installation, so the programs find their files as they
do there. auditwheel names the oldest glibc on which all of it runs; that goes into the file's name.

The second wheel, where the build has BUILD/old_glibc, is for machines with an older glibc: the same without Clang, its programs
linked again. Installers choose by the name of the file, the first one where it runs.
"""
import argparse
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COMPONENTS = ("dtype-lint", "dtype-san")
LIMIT_MB = 25
ALIASES = {(2, 17): "manylinux2014"}  # what installers before PEP 600 call it
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


def add_terms(build, licenses, which):
    licenses.mkdir()
    shutil.copy2(ROOT / "LICENSE", licenses / "LICENSE")
    for package in [*CARRIED, *(llvm_terms(build) if which == "first" else [])]:
        terms = pathlib.Path("/usr/share/doc") / package / "copyright"
        if terms.is_file():
            shutil.copy2(terms, licenses / f"{package}.txt")


def put_second(build, data):
    """The programs of BUILD/old_glibc in the place of those that were installed; what belongs to Clang is left out."""
    for program in COMPONENTS:
        source = build / "old_glibc" / program
        if source.stat().st_mtime < (build / "bin" / program).stat().st_mtime:
            fail(f"{source} is older than {build / 'bin' / program}; build it again (make wheel does)")
        run("strip", "-o", data / "bin" / program, source)
    for folder in data.glob("lib*/**/dtype_guard/clang"):
        shutil.rmtree(folder)


def stage(build, folder, which):
    """The unpacked wheel below `folder`."""
    metadata = (build / "generated" / "wheel" / "METADATA").read_text()
    version = re.search(r"^Version: (.*)$", metadata, re.MULTILINE)[1]
    name = f"dtype_guard-{version}"
    data = folder / f"{name}.data" / "data"
    for component in COMPONENTS:
        run("cmake", "--install", build, "--prefix", data, "--component", component, "--strip")
    for program in COMPONENTS:
        if not (data / "bin" / program).is_file():
            fail(f"{build} has no {program}; build it first (make wheel does)")
    if which == "second":
        put_second(build, data)
    (data / "bin").rename(data.parent / "scripts")
    shutil.rmtree(data / "share", ignore_errors=True)
    shutil.copytree(HERE / "dtype_guard", folder / "dtype_guard", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "dtype_guard" / "_version.py").write_text(f'"""The version of the build."""\n\n__version__ = "{version}"\n')
    info = folder / f"{name}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(metadata + (ROOT / "README.md").read_text())
    (info / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: dtype-guard\nRoot-Is-Purelib: false\n"
                                f"Tag: py3-none-linux_{platform.machine()}\n")
    add_terms(build, info / "licenses", which)


def tagged(wheel, out):
    """The wheel under the name that says which glibc it needs; fails where a library of the machine is missing in it."""
    said = run(sys.executable, "-m", "auditwheel", "show", wheel)
    tag = re.search(r'platform tag:\s+"(manylinux_(\d+)_(\d+)_(\w+))"', said)
    if not tag:
        fail(f"{wheel.name} would not run on other machines:\n{said}")
    alias = ALIASES.get((int(tag[2]), int(tag[3])))
    run(sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", f"{alias}_{tag[4]}.{tag[1]}" if alias else tag[1], wheel)
    made, = wheel.parent.glob("*.whl")
    if made.stat().st_size > LIMIT_MB * 1024 * 1024:
        fail(f"{made.name} is {made.stat().st_size / 1024 / 1024:.1f} MB, expected at most {LIMIT_MB}")
    out.mkdir(parents=True, exist_ok=True)
    return pathlib.Path(shutil.copy2(made, out / made.name))


def make(build, out, which):
    with tempfile.TemporaryDirectory(prefix="dtype-guard-wheel-") as scratch:
        tree, packed = pathlib.Path(scratch, "tree"), pathlib.Path(scratch, "packed")
        tree.mkdir()
        packed.mkdir()
        stage(build, tree, which)
        run(sys.executable, "-m", "wheel", "pack", tree, "--dest-dir", packed)
        wheel, = packed.glob("*.whl")
        made = tagged(wheel, out)
    print(f"{made}  {made.stat().st_size / 1024 / 1024:.1f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True, help="a build with dtype-lint and dtype-san")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the folder for the wheels; those in it are removed")
    options = parser.parse_args()
    build = options.build.resolve()
    for old in options.out.glob("dtype_guard-*.whl"):
        old.unlink()
    make(build, options.out, "first")
    if all((build / "old_glibc" / program).is_file() for program in COMPONENTS):
        make(build, options.out, "second")
    else:
        print(f"no second wheel, for an older glibc: no {build / 'old_glibc'}")


if __name__ == "__main__":
    main()
