#!/usr/bin/env python3
"""The wheels: what is in them and what they ask of a machine; installed into an empty environment and used where no LLVM is.

    wheel_test.py BUILD CLANG (1 or 0)
"""
import json
import os
import pathlib
import platform
import re
import shutil
import sys
import unittest
import zipfile

import wheel_support
from wheel_support import FIRST, ROOT, SECOND, WHEELS, done, install, run

CLANG = sys.argv.pop(2) == "1"
PRELOAD_GLIBC = (2, 17)
FIRST_GLIBC = (2, 34)
SECOND_GLIBC = (2, 17)
MEGABYTES = 25
# What a program may ask for: glibc's own and libgcc_s, which each distribution has.
OF_THE_MACHINE = re.compile(r"(?:libc|libm|libdl|librt|libpthread)\.so\.\d+|libgcc_s\.so\.1|ld-linux.*\.so\.\d")
# In a namespace of its own, the folders of LLVM are empty ones: what the wheel needs of the machine is then missed.
HIDDEN = ['for folder in /usr/lib/llvm-* /usr/lib/clang /usr/local/lib/clang; do [ -d "$folder" ] && mount -t tmpfs none "$folder"; done; exec "$@"']


def number(text):
    return tuple(int(each) for each in text.split("."))


def needs(file):
    """The newest glibc whose symbols it asks for, and the libraries."""
    table = done("readelf", "-WV", file).partition("needs section")[2]
    versions = [number(each) for each in re.findall(r"Name: GLIBC_([0-9.]+)", table)]
    return max(versions), re.findall(r"\(NEEDED\).*\[(.+)\]", done("readelf", "-Wd", file)), table


class Content(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(wheel_support.tempfile.mkdtemp(prefix="dtype-guard-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    def elf_files(self, wheel):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(self.folder / wheel.name)
        for file in sorted((self.folder / wheel.name).rglob("*")):
            if file.is_file() and file.read_bytes()[:4] == b"\x7fELF":
                yield file

    def test_names_say_which_glibc(self):
        tag = number(re.fullmatch(r"dtype_guard-[\d.]+-py3-none-manylinux_(\d+_\d+)_\w+\.whl", FIRST[0].name)[1].replace("_", "."))
        # What is built on a newer system than Debian 12 asks for that one's glibc.
        own = number(platform.libc_ver()[1])
        self.assertLessEqual(tag, FIRST_GLIBC if own <= (2, 36) else own)
        if SECOND:
            self.assertRegex(SECOND[0].name, r"-py3-none-manylinux2014_\w+\.manylinux_2_17_\w+\.whl$")

    def test_symbols_and_libraries_are_those_of_the_tag(self):
        limits = [(FIRST[0], number(re.search(r"manylinux_(\d+_\d+)", FIRST[0].name)[1].replace("_", ".")))]
        limits += [(SECOND[0], SECOND_GLIBC)] if SECOND else []
        for wheel, limit in limits:
            seen = []
            for file in self.elf_files(wheel):
                with self.subTest(wheel=wheel.name, file=file.name):
                    newest, libraries, table = needs(file)
                    self.assertLessEqual(newest, PRELOAD_GLIBC if file.suffix == ".so" else limit)
                    self.assertNotIn("GLIBC_PRIVATE", table)
                    self.assertEqual([each for each in libraries if not OF_THE_MACHINE.fullmatch(each)], [])
                    seen.append(file.name)
            self.assertEqual(seen, ["dtype-lint", "dtype-san", "libdtype_san.so", "dtype-lint", "dtype-san"])  # programs, launchers

    def test_their_words_are_those_of_the_project(self):
        project = (ROOT / "CMakeLists.txt").read_text()
        for wheel in [*FIRST, *SECOND]:
            with zipfile.ZipFile(wheel) as archive:
                metadata, = [archive.read(name).decode() for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
            for field, pattern in (("Version", r"project\(dtype_guard VERSION (\S+)"), ("Summary", r'DESCRIPTION "(.+)"')):
                self.assertIn(f"\n{field}: {re.search(pattern, project)[1]}\n", metadata)
            self.assertTrue(metadata.endswith((ROOT / "README.md").read_text()))

    def test_they_have_no_kernels_and_no_plug_in(self):
        for wheel in [*FIRST, *SECOND]:
            with zipfile.ZipFile(wheel) as archive:
                names = archive.namelist()
            self.assertEqual([each for each in names if re.search(r"flash_ref|tidy|\.cmake$|\.a$", each)], [], wheel.name)
            headers = [each for each in names if each.endswith("clang/include/stddef.h")]
            self.assertEqual(len(headers), 1 if CLANG and wheel in FIRST else 0, wheel.name)
            self.assertLess(wheel.stat().st_size, MEGABYTES * 1024 * 1024)

    def test_they_have_the_terms_of_what_they_carry(self):
        for wheel in [*FIRST, *SECOND]:
            with zipfile.ZipFile(wheel) as archive:
                terms = {name.partition("/licenses/")[2]: archive.read(name).decode() for name in archive.namelist() if "/licenses/" in name}
            self.assertIn("Apache License", terms["LICENSE"])
            self.assertEqual("dtype-lint/LLVM_and_Clang.txt" in terms, CLANG and wheel in FIRST)
            self.assertIn("GNU LESSER GENERAL PUBLIC LICENSE", terms["dtype-san/LGPL-3.txt"])
            for part in ("dtype-lint", "dtype-san"):
                for named in re.findall(r"\((\S+\.txt)\)", terms[f"{part}/NOTICE.txt"]):
                    self.assertIn(f"{part}/{named}", terms)

    def test_an_installer_takes_the_one_that_fits(self):
        if not SECOND:
            self.skipTest("no second wheel: no ziglang in BUILD/.wheel-tools")
        for words, expected in (((), FIRST[0]), (("--platform", f"manylinux_2_17_{platform.machine()}", "--only-binary", ":all:"), SECOND[0]),
                                (("--platform", f"manylinux2014_{platform.machine()}", "--only-binary", ":all:"), SECOND[0])):
            to = self.folder / f"taken {len(words)} {words[1] if words else ''}"
            done(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--find-links",
                 WHEELS, "--dest", to, *words, "dtype-guard", env={**os.environ, "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": ""})
            self.assertEqual([each.name for each in to.iterdir()], [expected.name])


class Used(wheel_support.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.hiding = []
        if run("unshare", "-rm", "true").returncode == 0:
            cls.hiding = ["unshare", "-rm", "sh", "-c", *HIDDEN, "sh"]
        else:
            print("no namespaces here: LLVM's folders are not hidden from the installed commands")

    def test_commands_and_module_have_one_version(self):
        versions = {done(self.bin / name, "--version").split()[1] for name in ("dtype-lint", "dtype-san")}
        versions.add(done(self.bin / "python", "-m", "dtype_guard", "--version").split()[1])
        self.assertEqual(versions, {FIRST[0].name.split("-")[1]})

    def lint(self, status, *words, programs=None):
        report = self.scratch / "lint.json"
        report.unlink(missing_ok=True)
        result = run(*self.hiding, (programs or self.bin) / "dtype-lint", "--no-cache", "--quiet", f"--format=json={report}", *words)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return [(each["rule"], each["location"]["file"].rsplit("/", 1)[-1]) for each in json.loads(report.read_text())["findings"]]

    def test_lints_python(self):
        self.assertIn(("autocast-fp32-operator", "before.py"), self.lint(1, ROOT / "examples" / "var" / "before.py"))
        self.assertEqual(self.lint(0, ROOT / "examples" / "var" / "after.py"), [])

    def lint_cpp(self, programs):
        for version, status, expected in (("before", 1, ["before.cpp"]), ("after", 0, [])):
            source = ROOT / "examples" / "plain_cpp" / f"{version}.cpp"
            found = self.lint(status, source, "--", "-std=c++20", f"-I{ROOT / 'kernels' / 'include'}", programs=programs)
            self.assertEqual([file for rule, file in found if rule == "attention-implicit-promotion"], expected)

    def test_lints_cpp(self):
        if not CLANG:
            self.skipTest("this build's dtype-lint reads Python alone (DTYPE_GUARD_CLANG is off)")
        self.lint_cpp(self.bin)

    def test_lints_cpp_where_the_environment_was_moved_to(self):
        if not CLANG:
            self.skipTest("this build's dtype-lint reads Python alone (DTYPE_GUARD_CLANG is off)")
        install(FIRST[0], self.scratch / "to be moved").parent.rename(self.scratch / "moved")
        self.lint_cpp(self.scratch / "moved" / "bin")

    def test_module_runs_the_command(self):
        direct = run(self.bin / "dtype-lint", "--no-cache", ROOT / "examples" / "var" / "before.py")
        module = run(self.bin / "python", "-m", "dtype_guard", "lint", "--no-cache", ROOT / "examples" / "var" / "before.py")
        self.assertEqual((module.returncode, module.stdout), (direct.returncode, direct.stdout))
        wrong = run(self.bin / "python", "-m", "dtype_guard", "lnt")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("'lnt' is no command, expected lint or san", wrong.stderr)

    def test_watches_a_pytorch_job(self):
        report = self.scratch / "run.json"
        result = self.script(MIXED, *self.hiding, self.bin / "dtype-san", "run", f"--format=json={report}", "--")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)  # as the job ended
        found, = json.loads(report.read_text())["findings"]
        self.assertEqual(found["rule"], "attention-mixed-dtypes")

    def test_nothing_is_left_when_it_is_removed(self):
        other = self.scratch / "second"
        done(sys.executable, "-m", "venv", other)
        python = other / "bin" / "python"
        before = sorted(path.relative_to(other) for path in other.rglob("*"))
        done(python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile", FIRST[0])
        self.assertTrue((other / "bin" / "dtype-lint").is_file())
        done(python, "-m", "pip", "uninstall", "--quiet", "--yes", "dtype-guard")
        # pip leaves the folders of what lay outside its packages, empty.
        after = sorted(path.relative_to(other) for path in other.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        self.assertEqual([path for path in after if path not in before], [])


class Second(wheel_support.Case):
    """The wheel for an older glibc."""

    @classmethod
    def setUpClass(cls):
        if not SECOND:
            raise unittest.SkipTest("no second wheel: no ziglang in BUILD/.wheel-tools")
        super().setUpClass()
        cls.bin = install(SECOND[0], cls.scratch / "older")

    def test_lints_python(self):
        found = run(self.bin / "dtype-lint", "--no-cache", ROOT / "examples" / "var" / "before.py")
        self.assertEqual((found.returncode, "[autocast-fp32-operator]" in found.stdout), (1, True), found.stderr)
        self.assertEqual(run(self.bin / "dtype-lint", "--no-cache", ROOT / "examples" / "var" / "after.py").returncode, 0)

    def test_says_that_it_reads_no_cpp(self):
        found = run(self.bin / "dtype-lint", "--no-cache", ROOT / "examples" / "plain_cpp" / "before.cpp", "--", "-std=c++20")
        self.assertEqual(found.returncode, 3)
        self.assertIn("was built without Clang", found.stdout + found.stderr)

    def test_watches_a_pytorch_job(self):
        report = self.scratch / "run.json"
        result = self.script(MIXED, self.bin / "dtype-san", "run", f"--format=json={report}", "--")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        found, = json.loads(report.read_text())["findings"]
        self.assertEqual((found["rule"], found["location"]["line"]), ("attention-mixed-dtypes", 6))


MIXED = """
import torch
import torch.nn.functional as F
k = v = torch.randn(1, 2, 8, 16, dtype=torch.bfloat16)
scale = torch.ones(16)
q = k * scale
try:
    F.scaled_dot_product_attention(q, k, v)
except RuntimeError:
    pass
"""

if __name__ == "__main__":
    wheel_support.main()
