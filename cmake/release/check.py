#!/usr/bin/env python3
"""Compares every place that has the version of a release with the one that decides it (CMakeLists.txt).

    check.py [--root DIR] [--build DIR] [--wheels DIR] [--packages DIR] [--pre-commit DIR] [--tag NAME]

Without --tag it is the tag of the commit, where it has one. A folder that is named must hold what it is named for. Prints a line for
each place. Exit 0: all agree; 1: a difference.
"""
import argparse
import gzip
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from version import ROOT, project_version  # noqa: E402

PROGRAMS = ("dtype-lint", "dtype-san")
WHEELS = {"with Clang": lambda name: "manylinux2014" not in name, "for glibc 2.17": lambda name: "manylinux2014" in name}
PACKAGES = ("dtype-lint", "dtype-san", "libflash-ref-dev", "dtype-guard-clang-tidy")
MAKES = {"wheels": "`make wheel`", "packages": "`make deb`"}
# How pages and files of CI name a release.
NAMED = re.compile(r"(?:\brev: v|\bdtype-guard==|\bdtype_guard-|actions/dtype-guard@v)(\d+\.\d+\.\d+)")


def run(*command):
    """What it prints; empty where it cannot be run."""
    try:
        return subprocess.run([str(word) for word in command], text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=False).stdout.strip()
    except OSError:
        return ""


def first(pattern, text):
    found = re.search(pattern, text, re.M)
    return found[1] if found else "none"


def text_of(path):
    """Empty where there is none."""
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def unpacked(path):
    try:
        return gzip.decompress(path.read_bytes()).decode(errors="replace")
    except OSError:
        return ""


def in_changelog(root, _):
    text = text_of(root / "cmake" / "release" / "CHANGELOG.md")
    sections = re.findall(r"^## \[(.+?)\](.*)\n((?:(?!## ).*\n?)*)", text, re.M)
    if sections and sections[0][0].lower() == "unreleased":
        yield "changelog: entries under Unreleased", "none" if not sections[0][2].strip() else "some", "none"
        sections = sections[1:]
    newest, day = (sections[0][0], sections[0][1]) if sections else ("none", "")
    yield "changelog: newest section", newest, None
    if not re.fullmatch(r" - \d{4}-\d\d-\d\d", day):
        yield "changelog: day of the newest section", day.strip(" -") or "none", "YYYY-MM-DD"


def in_pages(root, _):
    pages = run("git", "-C", root, "ls-files", "-co", "--exclude-standard", "*.md", "*.yml", "*.yaml").splitlines()
    for page in sorted(pages):
        if not page.startswith("tests/"):
            for number, line in enumerate((root / page).read_text(encoding="utf-8").splitlines(), 1):
                for version in NAMED.findall(line):
                    yield f"{page}:{number}", version, None


def in_stored_files(root, _):
    """What the version wrote, for later ones to read."""
    folder = root / "tests" / "install" / "stored"
    names = sorted(each.name for each in folder.glob("*.*.*") if each.is_dir() and any(each.iterdir())) if folder.is_dir() else []
    version = project_version(root)
    yield "stored files", version if version in names else (names or ["none"])[-1], None


def in_tag(root, tag):
    version = project_version(root)
    tags = [tag] if tag else [name for name in run("git", "-C", root, "tag", "--points-at", "HEAD").splitlines() if re.match(r"v\d", name)]
    for name in tags:
        yield f"tag {name}", name.removeprefix("v") if name.startswith("v") else f"{name}, without a v", None
    if not tags:
        other = run("git", "-C", root, "rev-parse", "--quiet", "--verify", f"refs/tags/v{version}^{{commit}}")
        yield f"tag v{version}, to be set at this commit", "at another one" if other else "not there yet", "not there yet"


def in_build(build, _):
    for program in PROGRAMS:
        yield f"build: {program} --version", version_of_program(build / "bin" / program), None
    yield "build: find_package(dtype_guard)", first(r'set\(PACKAGE_VERSION "(.+?)"\)', text_of(build / "dtype_guardConfigVersion.cmake")), None


def version_of_program(path):
    return first(r"^dtype-\w+ (\S+)", run(path, "--version")) if path.is_file() else "no such file"


def in_wheel(wheel):
    parts = wheel.name.split("-")
    yield "name", parts[1] if len(parts) == 5 else "not as NAME-VERSION-PYTHON-ABI-PLATFORM.whl", None
    try:
        with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as scratch:
            archive.extractall(scratch)
            metadata = [text_of(each) for each in pathlib.Path(scratch).glob("*.dist-info/METADATA")]
            yield "METADATA", first(r"^Version: (\S+)", "\n".join(metadata)), None
            package = pathlib.Path(scratch, "dtype_guard")
            yield "dtype_guard.__version__", first(r'^__version__ = "(.+)"', text_of(package / "_version.py")), None
            for name in PROGRAMS:
                program = package / "installed" / "bin" / name
                if program.is_file():
                    program.chmod(0o755)
                yield f"{name} --version", version_of_program(program), None
    except (zipfile.BadZipFile, OSError) as problem:
        yield "content", f"cannot be unpacked ({problem})", f"a wheel, as {MAKES['wheels']} writes it"


def in_wheels(folder, _):
    wheels = sorted(folder.glob("*.whl"))
    for kind, is_one in WHEELS.items():
        if not any(is_one(each.name) for each in wheels):
            yield f"{folder.name}: the wheel {kind}", "not there", f"one, of {MAKES['wheels']}"
    for wheel in wheels:
        for where, found, expected in in_wheel(wheel):
            yield f"{wheel.name}: {where}", found, expected


def in_package(package, name):
    control = run("dpkg-deb", "-f", package, "Version")
    if not control:
        yield "content", "dpkg-deb cannot read it", f"a Debian package, as {MAKES['packages']} writes it"
        return
    yield "control", control.rpartition("-")[0], None
    with tempfile.TemporaryDirectory() as scratch:
        run("dpkg-deb", "-x", package, scratch)
        share = pathlib.Path(scratch, "usr", "share")
        yield "changelog.Debian", first(r"^\S+ \((.+?)-\d+\)", unpacked(share / "doc" / name / "changelog.Debian.gz")), None
        if name in PROGRAMS:
            yield f"{name}.1.gz", first(r"dtype-guard (\d+\.\d+\.\d+)", unpacked(share / "man" / "man1" / f"{name}.1.gz")), None


def in_packages(folder, _):
    packages = sorted(folder.glob("*.deb"))
    for name in PACKAGES:
        if not any(each.name.split("_")[0] == name for each in packages):
            yield f"{folder.name}: the package {name}", "not there", f"one, of {MAKES['packages']}"
    for package in packages:
        for where, found, expected in in_package(package, package.name.split("_")[0]):
            yield f"{package.name}: {where}", found, expected


def in_pre_commit(folder, _):
    if (folder / "VERSION").is_file():
        yield "pre-commit: its wheel", (folder / "VERSION").read_text().strip(), None
        yield "pre-commit: its newest tag", run("git", "-C", folder, "describe", "--tags", "--abbrev=0").removeprefix("v"), None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    parser.add_argument("--tag")
    for name in ("build", "wheels", "packages", "pre-commit"):
        parser.add_argument(f"--{name}", type=pathlib.Path, metavar="DIR", help=f"what `make` put there is compared as well: {name}")
    options = parser.parse_args()
    for folder in (options.root, options.build, options.wheels, options.packages, options.pre_commit):
        if folder and not folder.is_dir():
            parser.error(f"{folder}: no such folder; make it first, or leave the option out")
    try:
        version = project_version(options.root)
    except (OSError, ValueError) as problem:
        parser.error(f"{problem}")
    print(f"the version is {version}")
    places = [(in_changelog, options.root), (in_pages, options.root), (in_stored_files, options.root), (in_tag, options.root),
              (in_build, options.build), (in_wheels, options.wheels), (in_packages, options.packages), (in_pre_commit, options.pre_commit)]
    differs = 0
    for look, folder in places:
        if folder is None:
            continue
        seen = 0
        for where, found, expected in look(folder, options.tag):
            seen += 1
            right = found == (expected or version)
            differs += not right
            print(f"  {where}: {found}" if right else f"DIFFERS  {where}: {found}, expected {expected or version}")
        if seen == 0:
            differs += 1
            print(f"DIFFERS  {folder}: nothing there that has a version ({look.__name__.removeprefix('in_')})")
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main())
