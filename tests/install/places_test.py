#!/usr/bin/env python3
"""The wheels in every place where installers put packages, under each Python of this machine, by old installers too.

    places_test.py BUILD CLANG (1 or 0)
"""
import os
import pathlib
import re
import shutil
import sys
import unittest
import zipfile

import wheel_support
from wheel_support import FIRST, ROOT, SECOND, WHEELS, done, install_fast, run

CLANG = sys.argv.pop(2) == "1"
BUG = ROOT / "examples" / "var" / "before.py"
CPP_BUG = ROOT / "examples" / "plain_cpp" / "before.cpp"
OLDEST = (3, 8)  # Requires-Python of the wheels
# What Ubuntu 20.04, Debian 11 and Debian 12 have. The first one knows no manylinux_2_34.
OLD_PIPS = (("20.0.2", SECOND, (3, 8)), ("20.3.4", FIRST, (3, 9)), ("23.0.1", FIRST, None))


def pythons():
    """The interpreters of this machine, by release; those that cannot make an environment are left out."""
    found = {}
    candidates = [pathlib.Path(sys.executable)]
    for folder in [*os.environ["PATH"].split(":"), *map(str, pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv")).glob("versions/*/bin"))]:
        candidates += sorted(pathlib.Path(folder).glob("python3.*[0-9]")) if folder else []
    for program in candidates:
        told = run(program, "-c", "import ensurepip, sys, venv; print(*sys.version_info[:2])")
        if told.returncode == 0:
            found.setdefault(tuple(map(int, told.stdout.split())), program)
    return found


class Places(wheel_support.Case):
    def setUp(self):
        self.environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_NO_WARN_SCRIPT_LOCATION": "1"}
        self.environment.pop("PYTHONPATH", None)

    def pip(self, *words, python=None, **more):
        return done(python or self.bin / "python", "-m", "pip", "--quiet", *words, env={**self.environment, **more})

    def works(self, folder, python=None, **more):
        """The command in this folder, and the module where there is a Python that has it."""
        environment = {**self.environment, **more}
        commands = [[folder / "dtype-lint"]] if folder else []
        commands += [[python, "-m", "dtype_guard", "lint"]] if python else []
        for command in commands:
            found = run(*command, "--no-cache", BUG, env=environment, cwd=self.scratch)
            self.assertEqual((found.returncode, "[autocast-fp32-operator]" in found.stdout), (1, True), f"{command}\n{found.stdout}{found.stderr}")
        for command in [[folder / "dtype-san"]] if folder else [[python, "-m", "dtype_guard", "san"]]:
            watched = run(*command, "run", "--", "sh", "-c", "exit 3", env=environment, cwd=self.scratch)
            self.assertEqual((watched.returncode, "no findings" in watched.stderr), (3, True), watched.stderr)

    def test_a_target_folder(self):
        to = self.scratch / "a [target]"
        self.pip("install", "--no-index", "--target", to, FIRST[0])
        plain = install_none(self.scratch / "plain")
        self.works(to / "bin", plain, PYTHONPATH=str(to))
        self.works(to / "bin")

    def test_a_target_folder_that_has_programs_already(self):
        # pip leaves the programs out there, and says so; the package has them.
        to = self.scratch / "used target"
        (to / "bin").mkdir(parents=True)
        self.pip("install", "--no-index", "--target", to, FIRST[0])
        self.works(None, install_none(self.scratch / "plain of used"), PYTHONPATH=str(to))

    def test_a_prefix_and_a_user(self):
        python = pathlib.Path(sys.executable)
        to = self.scratch / "a prefix"
        self.pip("install", "--no-index", "--ignore-installed", "--prefix", to, FIRST[0], python=python, PIP_BREAK_SYSTEM_PACKAGES="1")
        self.works(next(to.glob("**/bin")))
        home = self.scratch / "a home"
        if sys.prefix == sys.base_prefix:
            more = {"PYTHONUSERBASE": str(home), "PIP_BREAK_SYSTEM_PACKAGES": "1"}
            self.pip("install", "--no-index", "--ignore-installed", "--user", FIRST[0], python=python, **more)
            self.works(home / "bin", python, **more)

    def test_a_link_and_a_move(self):
        install_fast(FIRST[0], self.scratch / "to move").parent.rename(self.scratch / "has moved")
        (self.scratch / "of a user").mkdir()
        for name in ("dtype-lint", "dtype-san"):
            (self.scratch / "of a user" / name).symlink_to(self.scratch / "has moved" / "bin" / name)
        self.works(self.scratch / "of a user")

    def test_an_installer_that_links_each_file(self):
        # As `uv pip install --link-mode symlink` does: the wheel is unpacked in a cache.
        cache, where = self.scratch / "a cache", self.scratch / "of links"
        with zipfile.ZipFile(FIRST[0]) as archive:
            archive.extractall(cache)
        python = install_none(where)
        packages = next(where.glob("lib/python*/site-packages"))
        for file in [each for each in cache.rglob("*") if each.is_file()]:
            name = file.relative_to(cache)
            to = where / "bin" / name.name if name.parts[0].endswith(".data") else packages / name
            file.chmod(0o755)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.symlink_to(file)
        (self.scratch / "linked again").mkdir()
        for name in ("dtype-lint", "dtype-san"):
            (self.scratch / "linked again" / name).symlink_to(pathlib.Path("..", "of links", "bin", name))
        self.works(where / "bin", python)
        self.works(self.scratch / "linked again")
        self.works(pathlib.Path("of links", "bin"))  # by the way from the working folder
        if CLANG:
            found = run(where / "bin" / "dtype-lint", "--no-cache", CPP_BUG, "--", "-std=c++20", f"-I{ROOT / 'kernels' / 'include'}")
            self.assertEqual((found.returncode, "[attention-implicit-promotion]" in found.stdout), (1, True), found.stdout + found.stderr)
        self.assertEqual(done(python, "-c", BLOCK), "no attention or rotary call was seen in this block\n")

    def test_of_two_pythons_in_one_place_the_version_of_the_command_goes_first(self):
        where = install_fast(FIRST[0], self.scratch / "two").parent
        older = where / "lib" / "python3.0" / "site-packages"
        for name in ("dtype-lint", "dtype-san"):
            program = older / "dtype_guard" / "installed" / "bin" / name
            program.parent.mkdir(parents=True, exist_ok=True)
            program.write_text("#!/bin/sh\necho another version; exit 9\n")
            program.chmod(0o755)
        self.works(where / "bin")

    def test_a_command_without_its_package(self):
        where = install_fast(FIRST[0], self.scratch / "without").parent
        shutil.rmtree(next(where.glob("lib/python*/site-packages/dtype_guard")))
        told = run(where / "bin" / "dtype-lint", "--version")
        self.assertEqual((told.returncode, told.stdout), (2, ""))
        self.assertIn(f"dtype-lint: no package dtype_guard with this program in a folder for Python's packages below {where}", told.stderr)

    def test_a_program_that_cannot_be_run(self):
        where = install_fast(FIRST[0], self.scratch / "not to be run").parent
        program = next(where.glob("lib/python*/site-packages/dtype_guard")) / "installed" / "bin" / "dtype-lint"
        program.chmod(0o644)
        for words in ([where / "bin" / "dtype-lint"], [where / "bin" / "python", "-m", "dtype_guard", "lint"]):
            told = run(*words, "--version")
            self.assertEqual((told.returncode, told.stdout), (2, ""))
            self.assertRegex(told.stderr, rf"^dtype[-_]\w+: {program} cannot be run: Permission denied\n$")

    def test_nothing_of_the_environment_is_needed(self):
        # Neither PATH nor HOME, a folder for temporary files with a blank, a home that cannot be written.
        temporary = self.scratch / "temporary files"
        temporary.mkdir(exist_ok=True)
        for more in ({}, {"PATH": "", "TMPDIR": str(temporary)}, {"HOME": "/proc", "TMPDIR": str(temporary)}):
            found = run(self.bin / "dtype-lint", BUG, env=more, cwd=self.scratch)
            self.assertEqual((found.returncode, "[autocast-fp32-operator]" in found.stdout), (1, True), found.stdout + found.stderr)
            watched = run(self.bin / "dtype-san", "run", "--", "/bin/sh", "-c", "exit 3", env=more, cwd=self.scratch)
            self.assertEqual((watched.returncode, "no findings" in watched.stderr), (3, True), watched.stderr)
            python = run(self.bin / "python", "-m", "dtype_guard", "lint", "--no-cache", BUG, env=more, cwd=self.scratch)
            self.assertEqual(python.returncode, 1, python.stderr)

    def test_another_user_without_rights_or_a_home(self):
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("only root can become another user, by setpriv")
        where = install_fast(FIRST[0], self.scratch / "for all")
        source = shutil.copy(BUG, self.scratch / "model.py")
        for path in (self.scratch, self.scratch / "for all", source):
            os.chmod(path, 0o755)
        other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
        found = run(*other, where / "dtype-lint", source, cwd="/", env=environment)
        self.assertEqual((found.returncode, "[autocast-fp32-operator]" in found.stdout), (1, True), found.stdout + found.stderr)
        watched = run(*other, where / "dtype-san", "run", "--", "/bin/sh", "-c", "exit 3", cwd="/", env=environment)
        self.assertEqual((watched.returncode, "no findings" in watched.stderr), (3, True), watched.stderr)


class Pythons(wheel_support.Case):
    def test_every_python_of_this_machine(self):
        tried = []
        for release, program in sorted(pythons().items()):
            if release < OLDEST:
                continue
            with self.subTest(release):
                # On a system with the oldest of these Pythons it is the wheel for an older glibc that is taken.
                programs = install_fast((SECOND if SECOND and release < (3, 11) else FIRST)[0], self.scratch / f"of {release}", program)
                found = run(programs / "python", "-W", "error", "-m", "dtype_guard", "lint", "--no-cache", BUG)
                self.assertEqual((found.returncode, "[autocast-fp32-operator]" in found.stdout), (1, True), found.stderr)
                self.assertEqual(run(programs / "dtype-san", "--version").returncode, 0)
                # The block itself needs no PyTorch; without one there is nothing to find.
                told = done(programs / "python", "-W", "error", "-c", BLOCK)
                self.assertEqual(told, "no attention or rotary call was seen in this block\n")
            tried.append(".".join(map(str, release)))
        print(f"tried under Python {', '.join(tried)}")

    def test_an_older_python_is_refused_by_the_installer(self):
        older = [program for release, program in sorted(pythons().items()) if (3, 6) <= release < OLDEST]
        if not older:
            self.skipTest("no Python before 3.8 here")
        done(older[-1], "-m", "venv", self.scratch / "older")
        told = run(self.scratch / "older" / "bin" / "python", "-m", "pip", "install", "--no-index", FIRST[0])
        self.assertNotEqual(told.returncode, 0)
        self.assertRegex(told.stdout + told.stderr, r"requires a different Python|not a supported wheel|Requires-Python")

    def test_old_installers_take_the_wheel_that_they_know(self):
        found = pythons()
        for version, expected, wanted in OLD_PIPS:
            release = wanted if wanted in found else min((each for each in found if each >= OLDEST), default=None)
            if release is None or (wanted and release > (3, 11)):
                print(f"pip {version} was not tried: no Python {wanted} here")
                continue
            with self.subTest(version):
                folder = self.scratch / f"pip {version}"
                done(found[release], "-m", "venv", folder)
                pip = [folder / "bin" / "python", "-m", "pip"]
                if run(*pip, "install", "--quiet", "--disable-pip-version-check", f"pip=={version}").returncode != 0:
                    self.skipTest("no package index answers: older installers cannot be had")
                if not expected:
                    continue
                told = done(*pip, "install", "--no-index", "--find-links", WHEELS, "--disable-pip-version-check", "dtype-guard",
                            env={**os.environ, "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": ""})
                self.assertIn(re.sub(r"^.*?-none-", "", expected[0].name), told)
                self.assertEqual(run(folder / "bin" / "dtype-lint", "--no-cache", BUG).returncode, 1)


BLOCK = "import dtype_guard\nwith dtype_guard.watch() as found: pass\nprint(found)"


def install_none(folder):
    """A new environment with nothing in it; its Python."""
    done(sys.executable, "-m", "venv", "--without-pip", folder)
    return folder / "bin" / "python"


if __name__ == "__main__":
    wheel_support.main()
