#!/usr/bin/env python3
"""What the programs carry of others (cmake/licenses/carried.tsv) is what the build reads and links, and its terms are installed.

    licenses_test.py BUILD
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
DOC = pathlib.Path("/usr/share/doc")
SKIPPED = 77
sys.path.insert(0, str(ROOT / "cmake" / "licenses"))
import collect  # noqa: E402

# The files of each part; a plug-in and a kernel library link the compiler's own libraries as shared ones.
FILES = {"dtype-lint": ["bin/dtype-lint"], "dtype-san": ["bin/dtype-san", "lib/libdtype_san.so"],
         "dtype-guard-clang-tidy": ["lib/libdtype_tidy.so"], "libflash-ref-dev": ["kernels/libflash_ref.so"]}
# Every program is compiled with these, and their terms ask for nothing of it: interfaces of the C library and the kernel.
SYSTEM = re.compile(r"libc6-dev|linux-libc-dev")
COMPILER = re.compile(r"lib(?:stdc\+\+|gcc)-\d+-dev")


def output(*words):
    return subprocess.run([str(each) for each in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout


def read_by_object():
    """Headers of the system by object or precompiled header, as the compiler has told."""
    read, current = {}, None
    for line in output("ninja", "-C", BUILD, "-t", "deps").splitlines():
        if line and not line.startswith(" "):
            current = read.setdefault(line.partition(":")[0], set())
        elif line.strip().startswith("/usr/"):
            current.add(line.strip())
    return read


def made_by(commands):
    """The command that makes each file; those that only make programs for the build are among them."""
    made = {}
    for command in commands:
        for name in re.findall(r" -o (\S+) |\bar qc (\S+) ", f"{command} "):
            made[name[0] or name[1]] = command
    return made


def read_and_linked(target, read):
    """Headers and static libraries of the system that go into the file."""
    made = made_by(output("ninja", "-C", BUILD, "-t", "commands", target).splitlines())
    files, waiting, seen = set(), [next(each for each in made if each.startswith(target))], set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        if name.startswith("/usr/"):
            files.add(name)
        elif name.endswith((".o", ".gch")):
            files |= read.get(name, set())
            waiting += [f"{each.removeprefix(f'{BUILD}/')}.gch" for each in re.findall(r"-include (\S+cmake_pch\.hxx)", made.get(name, ""))]
        else:
            waiting += re.findall(r"[^\s,:]+\.(?:o|a)\b", made.get(name, "").partition(" && ")[2])
    return files


def packages_of(files):
    told = output("dpkg", "-S", *sorted({str(pathlib.Path(each).resolve()) for each in files})) if files else ""
    return {line.partition(":")[0] for line in told.splitlines()}


class Carried(unittest.TestCase):
    maxDiff = None

    def test_the_table_has_what_goes_into_each_file(self):
        has, read = collect.had_by(BUILD), read_by_object()
        self.assertGreater(len(read), 100)
        for part, targets in FILES.items():
            built = [each for each in targets if (BUILD / each).exists()]
            if not built:
                continue
            seen = set().union(*(packages_of(read_and_linked(each, read)) for each in built))
            seen = {each for each in seen if not SYSTEM.fullmatch(each)}
            if part not in ("dtype-lint", "dtype-san"):
                seen = {each for each in seen if not COMPILER.fullmatch(each)}
            self.assertTrue(seen, part)
            rows = [row["from"].format(**has) for row in collect.table() if part in row["parts"].split(",") and has.get(row["when"], "yes")]
            listed = {each for each in rows if not each.startswith("file:")}
            terms = {(DOC / each / "copyright").read_bytes() for each in listed}
            with self.subTest(part, carried_but="not in the table"):
                self.assertEqual([each for each in sorted(seen - listed) if (DOC / each / "copyright").read_bytes() not in terms], [])
            with self.subTest(part, in_the_table_but="not carried"):
                self.assertEqual(sorted(listed - seen), [])

    def test_terms_are_installed_with_what_they_refer_to(self):
        with tempfile.TemporaryDirectory() as folder:
            for part, targets in FILES.items():
                if not (BUILD / targets[0]).exists():
                    continue
                to = pathlib.Path(folder) / part
                done = subprocess.run(["cmake", "--install", str(BUILD), "--prefix", str(to), "--component", part], check=False, capture_output=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                carried = to / "share" / "doc" / part / "carried"
                notice = (carried / "NOTICE.txt").read_text()
                self.assertNotIn(collect.MISSING, notice)
                named = re.findall(r"\((\S+\.txt)\)", notice)
                self.assertTrue(named, notice)
                for each in named:
                    self.assertGreater((carried / each).stat().st_size, 300, each)
                if part == "dtype-san":
                    self.assertIn("GNU LESSER GENERAL PUBLIC LICENSE", (carried / "LGPL-3.txt").read_text())
                    self.assertIn("changed libdw or libelf", notice)

    def test_terms_that_cannot_be_found_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            missing = collect.collect("dtype-san", pathlib.Path(folder) / "terms", BUILD, {**collect.had_by(BUILD), "gcc": "0"})
            self.assertEqual(missing, ["libstdc++ of GCC", "libgcc"])
            self.assertIn(f"{collect.MISSING}: libgcc, libstdc++ of GCC.", (pathlib.Path(folder) / "terms" / "NOTICE.txt").read_text())


if __name__ == "__main__":
    missing = [tool for tool in ("ninja", "dpkg") if not shutil.which(tool)]
    if missing or not (BUILD / "build.ninja").exists():
        print(f"skipped: {', '.join(missing) or 'not a build by Ninja'}: what the build reads is not known")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
