#!/usr/bin/env python3
"""Packs the build into Debian packages; installs each below a folder, uses it from there and removes it.

    debian_test.py BUILD
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1]).resolve()
PACKAGES = BUILD / "tests" / "install" / "packages"  # fresh_debian_test.py takes them from here
NEEDED = ("cpack", "dpkg-deb", "dpkg-shlibdeps")
SKIPPED = 77


def run(*command, **settings):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, **settings)


def done(*command, **settings):
    result = run(*command, **settings)
    assert result.returncode == 0, (command, result.stdout, result.stderr)
    return result.stdout


class Debian(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        shutil.rmtree(PACKAGES, ignore_errors=True)
        done("cpack", "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", PACKAGES, cwd=cls.folder)
        cls.packages = {file.name.split("_")[0]: file for file in PACKAGES.glob("*.deb")}

    def test_there_is_one_for_each_part(self):
        parts = {"dtype-san", "libflash-ref-dev"}
        parts |= {"dtype-lint"} if (BUILD / "bin" / "dtype-lint").exists() else set()
        parts |= {"dtype-guard-clang-tidy"} if (BUILD / "lib" / "libdtype_tidy.so").exists() else set()
        self.assertEqual(set(self.packages), parts)

    def test_what_they_depend_on_is_what_they_link(self):
        for name, file in self.packages.items():
            depends = done("dpkg-deb", "-f", file, "Depends")
            self.assertIn("libc6 (>= 2.", depends, name)
            for package in re.findall(r"(?:^|, )([a-z0-9.+-]+)", depends):
                self.assertEqual(done("dpkg-query", "-W", "-f", "${db:Status-Status}", package), "installed", name)

    def test_what_no_program_can_tell_is_named(self):
        self.assertIn("libdlpack-dev", done("dpkg-deb", "-f", self.packages["libflash-ref-dev"], "Depends"))
        if "dtype-guard-clang-tidy" in self.packages:
            self.assertRegex(done("dpkg-deb", "-f", self.packages["dtype-guard-clang-tidy"], "Recommends"), r"^clang-tidy-\d+\n$")

    def test_lintian_finds_no_error(self):
        if not shutil.which("lintian"):
            self.skipTest("no lintian on this machine")
        told = run("lintian", *self.packages.values())
        self.assertEqual([line for line in told.stdout.splitlines() if line.startswith("E:")], [])
        self.assertEqual(told.returncode, 0, told.stderr)  # it ran to its end

    def dpkg(self, where, *words):
        (where / "var" / "lib" / "dpkg" / "info").mkdir(parents=True, exist_ok=True)
        (where / "var" / "lib" / "dpkg" / "status").touch()
        # Without the system's own packages there; what they depend on is asked in another test.
        return done("dpkg", f"--root={where}", "--force-depends", "--force-not-root", "--force-script-chrootless", "--log=/dev/null", *words)

    def own_files(self, where):
        return sorted(str(path.relative_to(where)) for path in where.rglob("*") if path.is_file() and "var" not in path.relative_to(where).parts)

    def test_installed_used_and_removed(self):
        for name, file in self.packages.items():
            with self.subTest(name):
                where = self.folder / f"root of {name}"
                self.dpkg(where, "-i", file)
                files = self.own_files(where)
                self.assertIn(f"usr/share/doc/{name}/copyright", files)
                self.assertIn(f"usr/share/doc/{name}/changelog.Debian.gz", files)
                self.use(name, where / "usr")
                self.dpkg(where, "-P", name)
                self.assertEqual(self.own_files(where), [])

    def use(self, name, prefix):
        if name not in ("dtype-lint", "dtype-san"):
            library, = (prefix / "lib").rglob("*.so")
            self.assertNotIn("not found", done("ldd", library))
            self.use_library(name, prefix, library)
            return
        for file in (f"share/man/man1/{name}.1.gz", f"share/bash-completion/completions/{name}", f"share/zsh/vendor-completions/_{name}",
                     f"share/fish/vendor_completions.d/{name}.fish"):
            self.assertTrue((prefix / file).is_file(), file)
        program = prefix / "bin" / name
        if name == "dtype-lint":
            bug = run(program, "--no-cache", ROOT / "examples" / "var" / "before.py")
            self.assertEqual((bug.returncode, "[autocast-fp32-operator]" in bug.stdout), (1, True), bug.stdout + bug.stderr)
            self.assertEqual(run(program, "--no-cache", ROOT / "examples" / "var" / "after.py").returncode, 0)
        else:
            watched = run(program, "run", "--", "sh", "-c", "exit 3")
            self.assertEqual(watched.returncode, 3, watched.stderr)
            self.assertIn("dtype-san: no findings", watched.stderr)

    def find_package(self, prefix):
        """The library's package is whole without those of the commands."""
        (self.folder / "CMakeLists.txt").write_text(FOUND)
        done("cmake", "-S", self.folder, "-B", self.folder / "found", f"-DCMAKE_PREFIX_PATH={prefix}")
        done("cmake", "--build", self.folder / "found")
        done(self.folder / "found" / "a")

    def use_library(self, name, prefix, library):
        if name == "libflash-ref-dev":
            source, program = self.folder / "a.cpp", self.folder / "a"
            source.write_text(CONSUMER)
            done("c++", "-std=c++20", source, f"-I{prefix / 'include'}", f"-L{library.parent}", "-lflash_ref", f"-Wl,-rpath,{library.parent}", "-o", program)
            done(program)
            self.find_package(prefix)
            return
        tidy = sorted(shutil.which(f"clang-tidy-{release}") or "" for release in range(19, 30))[-1]
        if not tidy:
            print("no clang-tidy here: its plug-in was not loaded")
            return
        self.assertIn("dtype-", done(tidy, "-load", library, "--list-checks", "-checks=-*,dtype-*"))


FOUND = """cmake_minimum_required(VERSION 3.25)
project(found LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(dtype_guard REQUIRED)
add_executable(a a.cpp)
target_link_libraries(a PRIVATE dtype_guard::flash_ref)
"""
CONSUMER = """#include <flash_ref/flash_ref.h>
int main() { return flash_ref_last_error() == nullptr; }
"""

if __name__ == "__main__":
    missing = [tool for tool in NEEDED if not shutil.which(tool)]
    if missing:
        print(f"skipped: no {', '.join(missing)} here; Debian packages are made on Debian and its kin")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1], verbosity=2)
