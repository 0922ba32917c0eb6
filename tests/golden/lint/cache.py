"""The cache of dtype-lint: the same report as without it, correct after any edit, and no harm from what is damaged."""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

import project

RULE = "rotary-dtype-mismatch"
SOURCE = '#include "table.h"\nvoid a(at::Tensor x) { rotary(widen(x), x, x); }\n'
WIDEN = "inline at::Tensor widen(at::Tensor x) { return x.to(at::kFloat); }\n"
KEEP = "inline at::Tensor widen(at::Tensor x) { return x; }\n"


class Cache(project.Case):
    def setUp(self):
        super().setUp()
        self.write(a__cpp=SOURCE, inc_in_table__h=WIDEN)
        self.compiled("a.cpp", flags="-I early -I inc")
        (self.folder / "early").mkdir()
        self.settle()

    def settle(self):
        """Makes everything old enough for its time to be trusted."""
        old = time.time() - 3600
        for path in [self.folder, *self.folder.rglob("*")]:
            os.utime(path, (old, old))

    def kept(self):
        """The summaries of files."""
        return [p for p in (self.scratch / "cache").rglob("*") if p.is_file() and p.name != "pruned" and not p.suffix]

    def answers(self):
        """Of whole runs."""
        return list((self.scratch / "cache").rglob("*.answer"))

    def groups(self):
        """What the roots of whole runs gave."""
        return list((self.scratch / "cache").rglob("*.groups"))

    def forget_answers(self):
        for each in [*self.answers(), *self.groups()]:
            each.unlink()

    def test_a_second_run_says_the_same_for_any_number_of_jobs(self):
        first = self.lint("-p", "build", "--format=json")
        self.assertEqual(first.returncode, 1, first.stdout + first.stderr)
        self.assertEqual((len(self.kept()), len(self.answers())), (1, 1))
        again = self.lint("-p", "build", "--format=json")
        self.assertEqual((again.returncode, again.stdout), (1, first.stdout))
        for jobs in (1, 2, 7):
            for extra in ((), ("--no-cache",), ("forget",)):
                if extra == ("forget",):
                    self.forget_answers()
                    extra = ()
                run = self.lint("-p", "build", "--format=json", "--jobs", jobs, *extra)
                self.assertEqual((run.returncode, run.stdout), (1, first.stdout), run.stderr)

    def test_an_entry_answers_for_the_source(self):
        """That the cache is asked at all: an entry made for other text of the same file."""
        self.assertEqual(self.found(), [(RULE, "inc/table.h", 1)])
        stat = (self.folder / "inc" / "table.h").stat()
        (self.folder / "inc" / "table.h").write_text(KEEP.ljust(len(WIDEN) - 1)[: len(WIDEN) - 1] + "\n")
        os.utime(self.folder / "inc" / "table.h", ns=(stat.st_atime_ns, stat.st_mtime_ns))
        self.settle_folder(stat)
        self.assertEqual(self.found(), [(RULE, "inc/table.h", 1)], "same size and time: taken as unchanged")
        self.assertEqual(self.found("-p", "build", "--no-cache"), [])

    def settle_folder(self, stat):
        os.utime(self.folder / "inc", ns=(stat.st_atime_ns, stat.st_mtime_ns))

    def test_an_edit_is_noticed(self):
        self.assertEqual(self.found(status=1), [(RULE, "inc/table.h", 1)])
        (self.folder / "inc" / "table.h").write_text(KEEP)
        self.assertEqual(self.found(status=0), [])
        (self.folder / "inc" / "table.h").write_text("\n" + WIDEN)
        self.assertEqual(self.found(status=1), [(RULE, "inc/table.h", 2)])
        (self.folder / "a.cpp").write_text(SOURCE.replace("widen(x)", "x"))
        self.assertEqual(self.found(status=0), [])

    def test_a_touched_file_is_not_read_again(self):
        self.report(status=1)
        before = {p: p.read_bytes() for p in self.kept()}
        os.utime(self.folder / "inc" / "table.h")
        self.report(status=1)
        self.assertEqual(before, {p: p.read_bytes() for p in self.kept()})

    def test_quick_edits_of_equal_length_are_noticed(self):
        for value in ("kHalf ", "kFloat", "kHalf ", "kFloat"):
            (self.folder / "inc" / "table.h").write_text(WIDEN.replace("kFloat", value))
            self.report(status=1 if value == "kFloat" else 0)

    def test_a_header_that_now_hides_another_is_noticed(self):
        self.report(status=1)
        (self.folder / "early" / "table.h").write_text(KEEP)
        self.report(status=0)
        (self.folder / "early" / "table.h").unlink()
        self.report(status=1)
        (self.folder / "table.h").write_text(KEEP)
        self.report(status=0)

    def test_a_folder_that_becomes_a_header_is_noticed(self):
        (self.folder / "first" / "wide.h").mkdir(parents=True)
        self.write(second_in_wide__h="#define WIDE at::kHalf\n", a__cpp='#include <wide.h>\nvoid a(at::Tensor x) { rotary(x.to(WIDE), x, x); }\n')
        self.entries.clear()
        self.compiled("a.cpp", flags="-I first -I second")
        self.settle()
        self.assertEqual(self.found(status=0), [])
        (self.folder / "first" / "wide.h").rmdir()
        self.write(first_in_wide__h="#define WIDE at::kFloat\n")
        self.assertEqual(len(self.found(status=1)), 1)

    def test_a_working_folder_that_appears_is_noticed(self):
        self.entries[0]["directory"] = str(self.scratch / "later")
        self.entries[0]["file"] = str(self.folder / "a.cpp")
        self.entries[0]["command"] = self.entries[0]["command"].replace("-I early -I inc", f"-I {self.folder}/inc -I {self.folder}").replace(
            "-c a.cpp", f"-c {self.folder}/a.cpp")
        self.compiled()
        self.report(status=3)
        (self.scratch / "later").mkdir()
        self.report(status=1)

    def test_a_missing_header_that_appears_is_noticed(self):
        (self.folder / "inc" / "table.h").rename(self.folder / "inc" / "other.h")
        self.settle()
        self.report(status=3)
        self.report(status=3)
        (self.folder / "inc" / "other.h").rename(self.folder / "inc" / "table.h")
        self.report(status=1)

    def test_has_include_is_noticed(self):
        (self.folder / "a.cpp").write_text("#if __has_include(\"maybe/some.h\")\n#define widen(x) (x)\n#endif\n" + SOURCE)
        self.settle()
        self.report(status=1)
        (self.folder / "inc" / "maybe").mkdir()
        self.report(status=1)
        (self.folder / "inc" / "maybe" / "some.h").write_text("")
        self.report(status=3)  # the macro now breaks the header's definition

    def test_flags_contracts_and_settings(self):
        (self.folder / "inc" / "table.h").write_text(
            "#ifdef KEEP\n" + KEEP + "#else\n" + WIDEN + "#endif\n")
        self.settle()
        self.report(status=1)
        self.report("-p", "build", "--extra-arg", "-DKEEP", status=0)
        self.report("-p", "build", "--rules=discarded-cast", status=0)
        self.report(status=1)
        contracts = self.scratch / "mine.json"
        api = {"name": "widen", "kind": "rotary", "spellings": ["mine"], "source": "here",
               "operands": [{"role": "x", "argument": 0, "accepts": ["float16"]}]}
        (self.folder / "a.cpp").write_text(
            '#include "table.h"\nvoid mine(at::Tensor);\nvoid a(at::Tensor x) { mine(x.to(at::kFloat)); }\n')
        for spelling, status in (("other", 0), ("mine", 1), ("other", 0)):
            api["spellings"] = [spelling]
            contracts.write_text(json.dumps({"schema": "dtype-guard/contracts/1", "library": "m", "apis": [api]}))
            self.report("-p", "build", "--contracts", contracts, status=status)

    def test_another_tool_does_not_share_entries(self):
        self.report(status=1)
        notes = subprocess.run(["readelf", "-n", project.LINT], capture_output=True, text=True, check=True).stdout
        build_id = bytes.fromhex(re.search(r"Build ID: ([0-9a-f]+)", notes).group(1))
        program = pathlib.Path(project.LINT).read_bytes()
        self.assertEqual(program.count(build_id), 1)
        copy = self.scratch / "bin" / "dtype-lint"
        copy.parent.mkdir()
        shutil.copy(project.LINT, copy)
        for other, entries in ((program, 1), (program + b"another build", 2),
                               (program.replace(build_id, bytes(reversed(build_id))), 3)):
            copy.write_bytes(other)
            run = subprocess.run([copy, "-p", "build"], cwd=self.folder, capture_output=True, text=True, check=False,
                                 env={**os.environ, "XDG_CACHE_HOME": str(self.scratch / "cache")})
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertEqual(len(self.kept()), entries)

    def test_damaged_entries_are_ignored_with_a_note(self):
        good = self.lint("-p", "build", "--format=json")
        (entry,) = self.kept()
        text = entry.read_bytes()
        for damaged in (b"", b"x", text[: len(text) // 2], text.replace(b"return", b"retarn"),
                        b"dtype-lint cache 0 " + text[19:], b"\0" * 5000):
            self.forget_answers()
            entry.write_bytes(damaged)
            run = self.lint("-p", "build", "--format=json")
            self.assertEqual((run.returncode, run.stdout), (1, good.stdout))
            self.assertIn("damaged", run.stderr)
            self.assertIn(str(entry), run.stderr)
            self.forget_answers()
            self.assertEqual(self.lint("-p", "build").stderr, "", "and replaced by a good one")

    def test_a_damaged_answer_is_ignored_with_a_note(self):
        good = self.lint("-p", "build", "--format=json")
        (entry,) = self.answers()
        text = entry.read_bytes()
        for damaged in (b"", text[: len(text) // 2], text.replace(b"rotary", b"rotarz"), text[:-1], b"\0" * 5000):
            entry.write_bytes(damaged)
            run = self.lint("-p", "build", "--format=json")
            self.assertEqual((run.returncode, run.stdout), (1, good.stdout))
            self.assertIn(f"'{entry}' in the cache is damaged", run.stderr)
            self.assertEqual(entry.read_bytes(), text, "and replaced by a good one")

    def test_damaged_groups_are_ignored_with_a_note(self):
        # What a root was allowed of the budget, which is kept too, goes by how far other threads are.
        good = self.lint("-p", "build", "--format=json", "--jobs", 1)
        (entry,) = self.groups()
        text = entry.read_bytes()
        for damaged in (b"", text[: len(text) // 2], text[:-1], b"\0" * 5000):
            entry.write_bytes(damaged)
            for each in self.answers():
                each.unlink()
            run = self.lint("-p", "build", "--format=json", "--jobs", 1)
            self.assertEqual((run.returncode, run.stdout), (1, good.stdout))
            self.assertIn(f"'{entry}' in the cache is damaged", run.stderr)
            self.assertEqual(entry.read_bytes(), text, "and replaced by a good one")

    def test_an_answer_stands_for_the_files(self):
        """That it is asked at all: files are not read again while none differs, and are when one does."""
        first = self.lint("-p", "build", "--format=json")
        for each in self.kept():
            each.unlink()
        self.assertEqual(self.lint("-p", "build", "--format=json").stdout, first.stdout)
        self.assertEqual(self.kept(), [])
        (self.folder / "inc" / "table.h").write_text(KEEP)
        self.report(status=0)
        self.assertEqual(len(self.kept()), 1)

    def test_rules_comments_and_baselines_are_no_part_of_an_answer(self):
        self.report(status=1)
        self.report("-p", "build", "--rules=discarded-cast", status=0)
        self.report("-p", "build", "--write-baseline", self.scratch / "known.json", status=0)
        self.report("-p", "build", "--baseline", self.scratch / "known.json", status=0)
        self.assertEqual(len(self.answers()), 1)
        self.report("-p", "build", "--strict", status=1)
        self.report("-p", "build", "--device", "cpu", status=1)
        self.assertEqual(len(self.answers()), 3)

    def test_a_cache_that_cannot_be_written(self):
        (self.scratch / "file").write_text("")
        run = self.lint("-p", "build", home=self.scratch / "file")
        self.assertEqual(run.returncode, 1)
        self.assertIn("--no-cache", run.stderr)
        refused = self.lint("-p", "build", "--cache", self.scratch / "file" / "cache")
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertIn("--cache", refused.stderr)
        self.assertEqual(self.lint("-p", "build", "--cache", "x", "--no-cache").returncode, 2)
        self.assertEqual(self.lint("-p", "build", "--cache", self.scratch / "named").returncode, 1)
        self.assertTrue(any((self.scratch / "named").rglob("*")))

    def test_runs_at_a_time_share_it(self):
        for i in range(6):
            self.write(**{f"s{i}__cpp": SOURCE.replace("void a", f"void s{i}")})
            self.compiled(f"s{i}.cpp", flags="-I inc")
        alone = self.lint("-p", "build", "--format=json", "--no-cache").stdout
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            runs = list(pool.map(lambda _: self.lint("-p", "build", "--format=json", "--jobs=2"), range(4)))
        for run in runs:
            self.assertEqual((run.returncode, run.stdout, run.stderr), (1, alone, ""))
        self.assertEqual([p for p in self.kept() if p.name.endswith(".tmp")], [])

    def test_old_entries_go(self):
        self.report(status=1)
        (entry,) = self.kept()
        old = entry.with_name("0" * 30)
        shutil.copy(entry, old)
        os.utime(old, (0, 0))
        (self.scratch / "cache" / "dtype-lint" / "pruned").unlink()
        self.report(status=1)
        self.assertEqual(self.kept(), [entry])

    def test_of_too_much_the_longest_unused_goes(self):
        self.report(status=1)
        (entry,) = self.kept()
        large, old = entry.with_name("0" * 30), entry.with_name("1" * 30)
        for each, size in ((large, 2**31 - 100_000), (old, 200_000)):
            with each.open("wb") as file:
                file.truncate(size)  # a hole
            os.utime(each, (time.time() - 3600, time.time() - (3600 if each == old else 60)))
        (self.scratch / "cache" / "dtype-lint" / "pruned").unlink()
        self.report(status=1)
        self.assertEqual((old.exists(), large.exists(), entry.exists()), (False, True, True))


project.main()
