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

    def test_lintian_finds_no_error(self):
        if not shutil.which("lintian"):
            self.skipTest("no lintian on this machine")
        told = run("lintian", *self.packages.values()).stdout
        self.assertEqual([line for line in told.splitlines() if line.startswith("E:")], [])

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
            libraries = list((prefix / "lib").rglob("*.so"))
            self.assertEqual(len(libraries), 1)
            self.assertNotIn("not found", done("ldd", libraries[0]))
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


if __name__ == "__main__":
    missing = [tool for tool in NEEDED if not shutil.which(tool)]
    if missing:
        print(f"skipped: no {', '.join(missing)} here; Debian packages are made on Debian and its kin")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1], verbosity=2)
