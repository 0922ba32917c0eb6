#!/usr/bin/env python3
"""`make release-check`: this tree and its build agree on the version, and a place that does not is named. The places stand in a small
tree of the test's own, with each made wrong in turn.

    release_test.py BUILD
"""
import gzip
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1])
CHECK = ROOT / "cmake" / "release" / "check.py"
PROGRAM = "#!/bin/sh\necho '{} {} (LLVM none)'\n"


def run(*command, **settings):
    return subprocess.run([str(word) for word in command], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **settings)


class ThisTree(unittest.TestCase):
    def test_agrees(self):
        if not (ROOT / ".git").exists():
            self.skipTest("not a clone: there is no list of the tracked files")
        # By install.wheels and install.debian, where they could make all of them.
        folders = []
        for name, number in (("wheels", 2), ("packages", 4)):
            folder = BUILD / "tests" / "install" / name
            if len([*folder.glob("dtype*.whl"), *folder.glob("*.deb")]) == number:
                folders += [f"--{name}", folder]
            else:
                print(f"this machine's build makes fewer than {number} {name}: they are not compared")
        told = run(sys.executable, CHECK, "--build", BUILD, *folders)
        self.assertEqual(told.returncode, 0, told.stdout)
        if "--wheels" in folders:
            self.assertIn(".whl: dtype-lint --version: ", told.stdout)
        self.assertIn("build: dtype-san --version: ", told.stdout)
        self.assertIn("analyzer/driver/guides/ci.md:", told.stdout)


class OwnTree(unittest.TestCase):
    """Each place has 1.2.3; those of `wrong` have 1.2.4."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.wrong = ()

    def version(self, place):
        return "1.2.4" if place in self.wrong else "1.2.3"

    def write(self, name, text, mode=0o644):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(mode)
        return path

    def tree(self):
        self.write("CMakeLists.txt", "project(dtype_guard VERSION 1.2.3 LANGUAGES CXX)\n")
        entry = "- something\n" if "unreleased" in self.wrong else ""
        day = "" if "day" in self.wrong else " - 2026-11-27"
        self.write("cmake/release/CHANGELOG.md", f"# Changelog\n\n## [Unreleased]\n\n{entry}\n## [{self.version('changelog')}]{day}\n\n- all\n")
        self.write("guide.md", f"    rev: v{self.version('rev')}\n    pip install dtype-guard=={self.version('pip')}\n")
        self.write(".github/action.yml", f"wheel: dtype-guard=={self.version('action')}\n")
        self.write(f"tests/install/stored/{self.version('stored')}/report.json", "{}")
        for name in ("dtype-lint", "dtype-san"):
            self.write(f"build/bin/{name}", PROGRAM.format(name, self.version(f"built {name}")), 0o755)
        self.write("build/dtype_guardConfigVersion.cmake", f'set(PACKAGE_VERSION "{self.version("cmake")}")\n')
        self.wheel()
        self.package()
        self.write("hooks/VERSION", f"{self.version('hooks')}\n")
        for words in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"],
                      ["tag", f"v{self.version('hooks tag')}"]):
            run("git", *words, cwd=self.folder / "hooks")
        run("git", "init", "-q", cwd=self.folder)

    def wheel(self):
        for platform in ("manylinux_2_34_x86_64", "manylinux2014_x86_64.manylinux_2_17_x86_64"):
            path = self.folder / "wheels" / f"dtype_guard-{self.version(f'wheel {platform[9:13]}')}-py3-none-{platform}.whl"
            path.parent.mkdir(parents=True, exist_ok=True)
            # One place of the first wheel at a time is made wrong.
            version = self.version if platform == "manylinux_2_34_x86_64" else lambda place: "1.2.3"
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("dtype_guard-1.dist-info/METADATA", f"Name: dtype-guard\nVersion: {version('metadata')}\n")
                archive.writestr("dtype_guard/_version.py", f'__version__ = "{version("module")}"\n')
                for name in ("dtype-lint", "dtype-san"):
                    archive.writestr(f"dtype_guard/installed/bin/{name}", PROGRAM.format(name, version(f"packed {name}")))

    def package(self):
        if not shutil.which("dpkg-deb"):
            return
        for name in ("dtype-lint", "dtype-san", "libflash-ref-dev", "dtype-guard-clang-tidy"):
            tree = f"package of {name}"
            version = self.version if name == "dtype-san" else lambda place: "1.2.3"
            self.write(f"{tree}/DEBIAN/control", f"Package: {name}\nVersion: {version('control')}-1\nArchitecture: all\nMaintainer: a <a@b>\nDescription: a\n")
            self.write(f"{tree}/usr/share/doc/{name}/changelog.Debian.gz", gzip.compress(f"dtype-guard ({version('changelog.Debian')}-1) unstable\n".encode()))
            if name in ("dtype-lint", "dtype-san"):
                self.write(f"{tree}/usr/share/man/man1/{name}.1.gz", gzip.compress(f'.TH DTYPE-SAN 1 "" "dtype-guard {version("manual page")}"\n'.encode()))
            (self.folder / "packages").mkdir(exist_ok=True)
            made = run("dpkg-deb", "--root-owner-group", "--build", self.folder / tree, self.folder / "packages" / f"{name}_1_all.deb")
            self.assertEqual(made.returncode, 0, made.stdout)

    def check(self, *wrong, tag=None, spoil=lambda folder: None):
        self.wrong = wrong
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.tree()
        spoil(self.folder)
        words = ["--root", self.folder, "--build", self.folder / "build", "--wheels", self.folder / "wheels", "--pre-commit", self.folder / "hooks"]
        words += ["--packages", self.folder / "packages"] if shutil.which("dpkg-deb") else []
        told = run(sys.executable, CHECK, *words, *(["--tag", tag] if tag else []))
        return told.returncode, [line.strip() for line in told.stdout.splitlines() if line.startswith("DIFFERS")], told.stdout

    def test_all_agree(self):
        status, differs, told = self.check()
        self.assertEqual((status, differs), (0, []), told)
        self.assertEqual(self.check(tag="v1.2.3")[0], 0)

    def test_each_place_is_compared(self):
        places = {"stored": "stored files", "changelog": "changelog: newest section", "rev": "guide.md:1", "pip": "guide.md:2", "action": ".github/action.yml:1",
                  "built dtype-lint": "build: dtype-lint --version", "built dtype-san": "build: dtype-san --version",
                  "cmake": "build: find_package(dtype_guard)", "wheel _2_3": "dtype_guard-1.2.4-py3-none-manylinux_2_34_x86_64.whl: name",
                  "wheel 2014": "dtype_guard-1.2.4-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl: name",
                  "metadata": "METADATA", "module": "dtype_guard.__version__", "packed dtype-lint": ".whl: dtype-lint --version", "packed dtype-san": ".whl: dtype-san --version", "hooks": "pre-commit: its wheel",
                  "hooks tag": "pre-commit: its newest tag"}
        if shutil.which("dpkg-deb"):
            places |= {"control": "control", "changelog.Debian": "changelog.Debian", "manual page": "dtype-san.1.gz"}
        for place, where in places.items():
            with self.subTest(place):
                status, differs, told = self.check(place)
                self.assertEqual((status, len(differs)), (1, 1), told)
                self.assertIn(f"{where}: 1.2.4, expected 1.2.3", differs[0])

    def test_the_tag(self):
        for tag in ("v1.2.4", "1.2.3", "v1.2.3-rc1"):
            self.assertEqual(self.check(tag=tag)[0], 1, tag)

    def test_a_version_that_was_released_is_not_released_again(self):
        self.check()
        git = ["git", "-C", self.folder, "-c", "user.name=a", "-c", "user.email=a@b"]
        run(*git, "commit", "-q", "--allow-empty", "-m", "a")
        run(*git, "tag", "v1.2.3")
        run(*git, "commit", "-q", "--allow-empty", "-m", "b")
        told = run(sys.executable, CHECK, "--root", self.folder)
        self.assertEqual(told.returncode, 1, told.stdout)
        self.assertIn("tag v1.2.3, to be set at this commit: at another one", told.stdout)

    def test_a_changelog_that_is_not_closed(self):
        for what in ("unreleased", "day"):
            self.assertEqual(self.check(what)[0], 1, what)

    def test_what_should_be_there_and_is_not(self):
        def without(pattern):
            def spoil(folder):
                for each in folder.glob(pattern):
                    each.unlink()
            return spoil

        expected = [("wheels/*_2_34_*", "wheels: the wheel with Clang: not there, expected one, of `make wheel`"),
                    ("wheels/*2014*", "wheels: the wheel for glibc 2.17: not there, expected one, of `make wheel`"),
                    ("build/bin/dtype-lint", "build: dtype-lint --version: no such file, expected 1.2.3"),
                    ("build/*.cmake", "build: find_package(dtype_guard): none, expected 1.2.3"),
                    ("cmake/release/CHANGELOG.md", "changelog: newest section: none, expected 1.2.3"),
                    ("hooks/VERSION", f"{self.folder / 'hooks'}: nothing there that has a version")]
        if shutil.which("dpkg-deb"):
            expected += [(f"packages/{name}_*", f"packages: the package {name}: not there, expected one, of `make deb`")
                         for name in ("dtype-lint", "dtype-san", "libflash-ref-dev", "dtype-guard-clang-tidy")]
        for pattern, message in expected:
            with self.subTest(pattern):
                status, differs, told = self.check(spoil=without(pattern))
                self.assertEqual((status, message in " ".join(differs), "Traceback" in told), (1, True, False), told)

    def test_what_cannot_be_read(self):
        def empty_wheel(folder):
            with zipfile.ZipFile(folder / "wheels" / "dtype_guard-1.2.3-py3-none-any.whl", "w"):
                pass

        def damaged(name):
            return lambda folder: (folder / name).write_bytes(b"PK\3\4 no")

        for spoil, messages in ((damaged("wheels/bad.whl"), ["bad.whl: name: not as NAME-VERSION-PYTHON-ABI-PLATFORM.whl, expected 1.2.3",
                                                             "bad.whl: content: cannot be unpacked (File is not a zip file), expected a wheel, as `make wheel` writes it"]),
                                (empty_wheel, ["METADATA: none, expected 1.2.3", "dtype_guard.__version__: none", "dtype-lint --version: no such file"]),
                                (damaged("packages/dtype-san_1_all.deb"), ["dtype-san_1_all.deb: content: dpkg-deb cannot read it, expected a Debian package"]),
                                (damaged("build/bin/dtype-san"), ["build: dtype-san --version: none, expected 1.2.3"])):
            if "deb" in messages[0] and not shutil.which("dpkg-deb"):
                continue
            status, differs, told = self.check(spoil=spoil)
            self.assertEqual((status, "Traceback" in told), (1, False), told)
            for message in messages:
                self.assertIn(message, "\n".join(differs))

    def test_a_tree_without_a_version_and_a_folder_that_is_none(self):
        self.check()
        missing = run(sys.executable, CHECK, "--root", self.folder, "--build", self.folder / "nowhere")
        self.assertEqual((missing.returncode, "no such folder" in missing.stdout), (2, True), missing.stdout)
        (self.folder / "CMakeLists.txt").write_text("project(other)\n")
        told = run(sys.executable, CHECK, "--root", self.folder)
        self.assertEqual((told.returncode, "no project(dtype_guard VERSION X.Y.Z ...)" in told.stdout, "Traceback" in told.stdout), (2, True, False), told.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
