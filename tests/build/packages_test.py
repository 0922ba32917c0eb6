#!/usr/bin/env python3
"""cmake/packages/install.sh against a pretended system: what it prints, what it runs, how it ends."""
import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "cmake" / "packages" / "install.sh"
TABLE = SCRIPT.with_name("packages.tsv")


def table():
    """The rows as dictionaries, and the LLVM releases."""
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    releases = lines[0].split("\t")[1].split()
    names = lines[1].split("\t")
    return [dict(zip(names, line.split("\t"))) for line in lines[2:]], releases


class System:
    """A PATH whose dpkg-query, apt-cache, apt-get, id and sudo play a system and write down what they were asked."""

    def __init__(self, scratch, os_release, installed, offered=(), refused=(), root=True, sudo=False):
        self.bin = scratch / "bin"
        self.bin.mkdir()
        self.log = scratch / "log"
        self.log.touch()
        for name, words in (("installed", installed), ("offered", offered), ("refused", refused)):
            (scratch / name).write_text("".join(f"{word}\n" for word in words))
        (scratch / "os-release").write_text(os_release)
        has = f'grep -qxF "$word" "{scratch}/%s"'
        self.command("dpkg-query", f'for word; do :; done; {has % "installed"} && printf installed')
        self.command("apt-cache", f'for word; do :; done; {has % "offered"} && printf "  Candidate: 1\\n"; true')
        self.command("apt-get", f'''echo "apt-get $*" >> "{self.log}"
for word; do if {has % "refused"}; then echo "E: no $word"; exit 100; fi; done''')
        self.command("id", f"echo {0 if root else 1000}")
        if sudo:
            self.command("sudo", f'echo sudo >> "{self.log}"; exec "$@"')
        for name in ("bash", "sh", "env", "dirname", "grep", "sed", "cut", "tr", "awk", "cat", "printf", "true"):
            found = next(pathlib.Path(folder) / name for folder in ("/usr/bin", "/bin")
                         if (pathlib.Path(folder) / name).exists())
            (self.bin / name).exists() or (self.bin / name).symlink_to(found)
        self.environment = {"PATH": str(self.bin), "DTYPE_GUARD_OS_RELEASE": str(scratch / "os-release")}

    def command(self, name, body):
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def update_offers(self, offered):
        """From `apt-get update` on these are offered."""
        (self.bin.parent / "newer").write_text("".join(f"{word}\n" for word in offered))
        with open(self.bin / "apt-get", "a", encoding="utf-8") as script:
            script.write(f"""case " $* " in *" update "*) cat "{self.bin.parent}/newer" > "{self.bin.parent}/offered";; esac
""")

    def install(self, **environment):
        done = subprocess.run([SCRIPT], env={**self.environment, **environment}, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout + done.stderr, self.log.read_text().splitlines()


def packages(column, release, kinds=("required", "optional")):
    return [row[column].replace("@", release) for row in table()[0] if row["kind"] in kinds and row[column] != "-"]


def os_release(column):
    name, _, version = column.partition("-")
    return f'ID={name}\nVERSION_ID="{version}"\n'


class Packages(unittest.TestCase):
    def system(self, *args, **settings):
        scratch = tempfile.TemporaryDirectory(prefix="some system ")
        self.addCleanup(scratch.cleanup)
        return System(pathlib.Path(scratch.name), *args, **settings)

    def test_every_row_is_complete(self):
        rows, releases = table()
        self.assertGreater(len(rows), 15)
        self.assertEqual(releases, sorted(releases, reverse=True))
        for row in rows:
            self.assertIn(row["kind"], ("required", "optional"), row)
            self.assertTrue(all(row.values()), row)
            self.assertRegex(row["probe"], r"^(command|header|python):\S+$")
            self.assertFalse(row["kind"] == "required" and "-" in row.values(), row)

    def test_nothing_missing_touches_nothing(self):
        for column in ("debian-12", "debian-13", "ubuntu-24.04"):
            system = self.system(os_release(column), packages(column, "19"), root=False)
            self.assertEqual(system.install(), (0, "", []), column)

    def test_missing_packages_are_named_with_the_reason_and_installed(self):
        everything = packages("debian-12", "22")
        system = self.system(os_release("debian-12"), [], everything)
        status, printed, log = system.install()
        self.assertEqual(status, 0, printed)
        for row in table()[0]:
            package = row["debian-12"].replace("@", "22")
            self.assertRegex(printed, rf"(?m)^  {package.replace('+', '[+]')} +{row['kind']}: ")
            self.assertIn(row["why"], printed)
        self.assertIn("update", log[0])
        installs = [line for line in log if " install " in line]
        self.assertTrue(all("--no-install-recommends" in line and " -y" in line for line in installs), installs)
        for package in everything:
            self.assertEqual(sum(package in line.split() for line in installs), 1, package)

    def test_the_newest_llvm_that_is_offered_is_taken(self):
        system = self.system(os_release("ubuntu-24.04"), [], packages("ubuntu-24.04", "20"))
        status, printed, _ = system.install()
        self.assertEqual(status, 0, printed)
        self.assertIn("llvm-20-dev", printed)
        self.assertNotIn("llvm-22-dev", printed)

    def test_a_release_that_only_newer_lists_offer_is_named_from_the_first_word(self):
        system = self.system(os_release("debian-12"), [], packages("debian-12", "19"))
        system.update_offers(packages("debian-12", "22"))
        status, printed, _ = system.install()
        self.assertEqual(status, 0, printed)
        self.assertIn("llvm-22-dev", printed)
        self.assertNotIn("llvm-19-dev", printed)

    def test_a_required_package_that_cannot_be_installed_fails(self):
        system = self.system(os_release("debian-12"), [], packages("debian-12", "22"), refused=["catch2"])
        status, printed, _ = system.install()
        self.assertEqual(status, 1)
        self.assertIn("could not install", printed)

    def test_an_optional_package_that_cannot_be_installed_is_said_only(self):
        required = packages("debian-12", "22", ["required"])
        system = self.system(os_release("debian-12"), required, ["libtorch-dev", "ccache"], refused=["libtorch-dev"])
        status, printed, log = system.install()
        self.assertEqual(status, 0, printed)
        self.assertIn("optional libtorch-dev could not be installed", printed)
        self.assertIn("optional python3-torch is not offered here", printed)
        self.assertTrue(any("ccache" in line for line in log))

    def test_optional_packages_can_be_left_out(self):
        system = self.system(os_release("debian-12"), packages("debian-12", "22", ["required"]))
        self.assertEqual(system.install(DTYPE_GUARD_PACKAGES="required"), (0, "", []))

    def test_without_root_sudo_is_used(self):
        system = self.system(os_release("debian-12"), packages("debian-12", "22", ["required"]),
                             packages("debian-12", "22"), root=False, sudo=True)
        status, printed, log = system.install()
        self.assertEqual(status, 0, printed)
        self.assertEqual(log[0], "sudo")

    def test_without_root_and_sudo_the_command_is_said(self):
        installed = [name for name in packages("debian-12", "22") if name != "catch2"]
        system = self.system(os_release("debian-12"), installed, root=False)
        status, printed, log = system.install()
        self.assertEqual((status, log), (1, []))
        self.assertIn("apt-get install --no-install-recommends catch2", printed)

    def test_an_unknown_system_gets_the_list(self):
        for text in ("ID=slackware\nVERSION_ID=15\n", "ID=debian\nVERSION_ID=11\n", "ID=rolling\n", ""):
            system = self.system(text, [])
            status, printed, log = system.install()
            self.assertEqual((status, log), (1, []), printed)
            self.assertIn("no package list for this system", printed)
            for row in table()[0]:
                if row["probe"] != "command:git" and row["probe"].startswith("command:"):
                    self.assertIn(f"  {row['need']} ({row['kind']}): {row['why']}", printed)

    def test_a_wrong_setting_is_refused(self):
        system = self.system(os_release("debian-12"), [])
        status, printed, log = system.install(DTYPE_GUARD_PACKAGES="some")
        self.assertEqual((status, log), (2, []))
        self.assertIn("'some'; expected all, required or none", printed)


if __name__ == "__main__":
    unittest.main()
