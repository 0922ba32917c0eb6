#!/usr/bin/env python3
"""Packs a build into wheels: dtype-lint, dtype-san, the preload library, Clang's built-in headers, the package dtype_guard.

The programs are those that the build's tests run: nothing is compiled again, scikit-build-core packs them. They lie in the package itself, as an installation does
below its prefix, so they find their files as they do there, wherever an installer puts the package; into the folder of programs goes a
launcher for each. auditwheel names the oldest glibc on which all of it runs; that goes into the file's name.

The second wheel, where the build has BUILD/old_glibc, is for machines with an older glibc: the same without Clang, its programs
linked again. Installers choose by the name of the file, the first one where it runs.
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
sys.path.insert(0, str(HERE.parent / "licenses"))
import collect  # noqa: E402

COMPONENTS = ("dtype-lint", "dtype-san")
LAUNCHER = "dtype_guard_launcher"
LIMIT_MB = 25
ALIASES = {(2, 17): "manylinux2014"}  # what installers before PEP 600 call it


def fail(message):
    sys.exit(f"make_wheel.py: {message}")


def run(*command):
    done = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def add_terms(build, licenses, which):
    """Of dtype-guard, and of what the programs carry (cmake/licenses)."""
    licenses.mkdir()
    shutil.copy2(ROOT / "LICENSE", licenses / "LICENSE")
    for part in COMPONENTS:
        has = collect.had_by(build)
        if which == "second":
            has["llvm"] = ""
        missing = collect.collect(part, licenses / part, build, has)
        if missing:
            fail(f"the terms of {', '.join(missing)} are not on this machine, and {part} carries them")


def put_second(build, data):
    """The programs of BUILD/old_glibc in the place of those that were installed; what belongs to Clang is left out."""
    for program in COMPONENTS:
        source = build / "old_glibc" / program
        if source.stat().st_mtime < (build / "bin" / program).stat().st_mtime:
            fail(f"{source} is older than {build / 'bin' / program}; build it again (make wheel does)")
        run("strip", "-o", data / "bin" / program, source)
    for folder in data.glob("lib*/**/dtype_guard/clang"):
        shutil.rmtree(folder)


def add_launchers(build, scripts, which):
    """Under the name of each program, in what installers put into their folder of programs."""
    scripts.mkdir(parents=True)
    for program in COMPONENTS:
        run("strip", "-o", scripts / program, build / ("old_glibc" if which == "second" else "wheel_programs") / LAUNCHER)


def stage(build, folder, which):
    """What CMakeLists.txt beside this file installs into the wheel."""
    data = folder / "installed"
    for component in COMPONENTS:
        run("cmake", "--install", build, "--prefix", data, "--component", component, "--strip")
    for program in COMPONENTS:
        if not (data / "bin" / program).is_file():
            fail(f"{build} has no {program}; build it first (make wheel does)")
    if which == "second":
        put_second(build, data)
    shutil.rmtree(data / "share", ignore_errors=True)
    for packages in [*data.glob("lib*/cmake")]:  # the packages for find_package are those of Debian's
        shutil.rmtree(packages)
    add_launchers(build, folder / "scripts", which)
    add_terms(build, folder / "licenses", which)


def packed(staged, out):
    """The wheel that scikit-build-core makes of it (pyproject.toml)."""
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--no-index",
        f"--config-settings=cmake.define.DTYPE_GUARD_STAGED={staged}", "--wheel-dir", out, HERE)
    wheel, = out.glob("*.whl")
    return wheel


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
        staged = pathlib.Path(scratch, "staged")
        staged.mkdir()
        stage(build, staged, which)
        made = tagged(packed(staged, pathlib.Path(scratch, "packed")), out)
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
    if all((build / "old_glibc" / program).is_file() for program in (*COMPONENTS, LAUNCHER)):
        make(build, options.out, "second")
    else:
        print(f"no second wheel, for an older glibc: no {build / 'old_glibc'}")


if __name__ == "__main__":
    main()
