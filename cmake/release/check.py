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
# How pages and files of CI name a release.
NAMED = re.compile(r"(?:\brev: v|\bdtype-guard==|\bdtype_guard-|actions/dtype-guard@v)(\d+\.\d+\.\d+)")


def run(*command):
    return subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout.strip()


def first(pattern, text):
    found = re.search(pattern, text, re.M)
    return found[1] if found else "none"


def in_changelog(root, _):
    text = (root / "cmake" / "release" / "CHANGELOG.md").read_text(encoding="utf-8")
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
        if (build / "bin" / program).is_file():
            yield f"build: {program} --version", first(r"^dtype-\w+ (\S+)", run(build / "bin" / program, "--version")), None
    package = build / "dtype_guardConfigVersion.cmake"
    yield "build: find_package(dtype_guard)", first(r'set\(PACKAGE_VERSION "(.+?)"\)', package.read_text()), None


def in_wheels(folder, _):
    for wheel in sorted(folder.glob("*.whl")):
        yield f"{wheel.name}: name", wheel.name.split("-")[1], None
        with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as scratch:
            for member in archive.namelist():
                if re.fullmatch(r"[^/]+\.dist-info/METADATA", member):
                    yield f"{wheel.name}: METADATA", first(r"^Version: (\S+)", archive.read(member).decode()), None
                elif member == "dtype_guard/_version.py":
                    yield f"{wheel.name}: dtype_guard.__version__", first(r'^__version__ = "(.+)"', archive.read(member).decode()), None
                elif re.fullmatch(r"dtype_guard/installed/bin/dtype-\w+", member):
                    program = pathlib.Path(archive.extract(member, scratch))
                    program.chmod(0o755)
                    yield f"{wheel.name}: {program.name} --version", first(r"^dtype-\w+ (\S+)", run(program, "--version")), None


def in_packages(folder, _):
    for package in sorted(folder.glob("*.deb")):
        yield f"{package.name}: control", run("dpkg-deb", "-f", package, "Version").rpartition("-")[0], None
        with tempfile.TemporaryDirectory() as scratch:
            run("dpkg-deb", "-x", package, scratch)
            for log in pathlib.Path(scratch).rglob("changelog.Debian.gz"):
                yield f"{package.name}: changelog.Debian", first(r"^\S+ \((.+?)-\d+\)", gzip.decompress(log.read_bytes()).decode()), None
            for page in pathlib.Path(scratch).rglob("man1/*.gz"):
                yield f"{package.name}: {page.name}", first(r"dtype-guard (\d+\.\d+\.\d+)", gzip.decompress(page.read_bytes()).decode()), None


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
    version = project_version(options.root)
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
