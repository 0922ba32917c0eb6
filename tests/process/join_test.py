"""Many processes in one report: ranks that differ, and a static report put beside a run."""
import json
import struct
import subprocess
import time

from journal_test import HEADER, xxh32
from support import BUILT, Case, main, marked_line


class Ranks(Case):
    def run_rank(self, rank, mode):
        self.preloaded(BUILT["kernel_calls"], mode, RANK=str(rank))

    def differences(self, report):
        return [entry for entry in report["not_analysed"] if entry["reason"] == "ranks-differ"]

    def test_the_rank_that_differs_is_named(self):
        for rank in range(4):
            self.run_rank(rank, "all-float" if rank == 3 else "clean")
        done, report = self.report(self.scratch / "journal")
        self.assertEqual(done.returncode, 1, done.stderr)
        [difference] = self.differences(report)
        self.assertIn("q is float32 in rank 3, float16 in ranks 0-2", difference["detail"])
        self.assertTrue(difference["file"].endswith(f"kernel_calls.cpp:{marked_line('kernel_calls.cpp', 'attend')}"), difference)
        [finding] = report["findings"]
        self.assertEqual([occurrence["rank"] for occurrence in finding["occurrences"]], [3])

    def test_ranks_that_agree_are_not_named(self):
        for rank in range(3):
            self.run_rank(rank, "clean")
        done, report = self.report(self.scratch / "journal")
        self.assertEqual((done.returncode, report["findings"], self.differences(report)), (0, [], []), done.stderr)

    def test_a_thousand_journals(self):
        self.run_rank(0, "all-float")
        [journal] = self.journals()
        content = journal.read_bytes()
        size = HEADER.size + HEADER.unpack_from(content)[2]  # of the first record, which begins with the process id
        for number in range(1, 1000):
            checked = content[8:HEADER.size] + struct.pack("<I", 1 << 24 | number) + content[HEADER.size + 4:size]
            other = content[:4] + struct.pack("<I", xxh32(checked)) + checked + content[size:]
            (journal.parent / f"other.{number}.dtype-san").write_bytes(other)
        started = time.monotonic()
        done, report = self.report(journal.parent)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(report["watched"]["processes"]), 1000)
        self.assertEqual(report["findings"][0]["count"], 1000)
        print(f"1000 journals in {time.monotonic() - started:.1f} s")


class Static(Case):
    """The lint report is written by hand, as for a call at the marked line of kernel_calls.cpp."""

    def lint(self, api="flash_ref_attention_fwd", line=None, tool="dtype-lint"):
        place = {"file": "programs/kernel_calls.cpp", "line": line or marked_line("kernel_calls.cpp", "attend"), "column": 10,
                 "end_line": 0, "end_column": 0, "function": "attend"}
        finding = {"rule": "attention-unsupported-dtype", "also_rules": [], "level": "error", "certainty": "definite",
                   "message": "'q' is 'float32'", "fingerprint": "v1:0123456789abcdef", "observed": ["static"], "runtime": "unknown",
                   "location": place, "api": api, "sinks": [{"api": api, "role": "q", **place}],
                   "operands": [{"role": "q", "dtypes": ["float32"], "accepts": ["float16", "bfloat16"], "shape": [], "device": "",
                                 "origin": None}], "path": [],
                   "precision": ["fp16"], "torch": ["2.13"], "device": "cuda", "stacks": [], "backtrace": [], "count": 1,
                   "occurrences": [], "fixes": [], "suppression": None, "baseline": ""}
        for key in ("end_line", "end_column", "column"):
            finding["sinks"][0][key] = place[key]
        report = {"schema": "dtype-guard/report/1", "tool": {"name": tool, "version": "0.1.0"}, "root": BUILT["source"], "findings": [finding], "not_analysed": [],
                  "watched": None,
                  "summary": {"errors": 1, "warnings": 0, "notes": 0, "suppressed": 0, "unchanged": 0, "not_analysed": 0, "files": 1,
                              "calls": 0}}
        path = self.scratch / "lint.json"
        path.write_text(json.dumps(report), encoding="utf-8")
        return path

    def joined(self, mode, **lint):
        path = self.lint(**lint)
        self.preloaded(BUILT["kernel_calls"], mode)
        _, report = self.report("--with", path, self.scratch / "journal")
        self.assertIsNotNone(report)
        return report

    def test_confirmed(self):
        [finding] = self.joined("all-float")["findings"]
        self.assertEqual((finding["runtime"], finding["observed"]), ("confirmed", ["static", "runtime"]))
        self.assertEqual(finding["backtrace"][0]["line"], marked_line("kernel_calls.cpp", "attend"))
        self.assertEqual(finding["occurrences"][0]["count"], 1)
        self.assertEqual(finding["fingerprint"], "v1:0123456789abcdef")
        self.assertEqual(finding["device"], "cpu")  # of the run: the static report only assumed cuda
        [q] = finding["operands"]
        self.assertEqual((q["device"], len(q["shape"])), ("cpu", 4))

    def test_what_no_run_has_confirmed_keeps_its_device(self):
        [finding] = self.joined("clean")["findings"]
        self.assertEqual((finding["device"], finding["operands"][0]["device"]), ("cuda", ""))

    def test_contradicted(self):
        [finding] = self.joined("clean")["findings"]
        self.assertEqual(finding["runtime"], "contradicted")

    def test_not_reached(self):
        static = [one for one in self.joined("rotary")["findings"] if "static" in one["observed"]]
        self.assertEqual([one["runtime"] for one in static], ["not_reached"])

    def beside(self, *journals):
        """The `runtime` member of the static finding beside these journals."""
        _, report = self.report("--with", self.lint(), *journals)
        [static] = [one for one in report["findings"] if "static" in one["observed"]]
        return static["runtime"]

    def test_nothing_is_denied_without_evidence(self):
        """That a call was not reached is said only where it would have been seen."""
        self.preloaded(BUILT["kernel_calls"], "rotary")
        [journal] = self.journals()
        self.assertEqual(self.beside(journal), "not_reached")
        cut = self.scratch / "cut.dtype-san"
        cut.write_bytes(journal.read_bytes()[:-20])
        self.assertEqual(self.beside(cut), "unknown")
        journal.unlink()
        self.assertEqual(self.beside(cut.parent / "journal"), "unknown")  # no process was watched
        for options, mode in (("start=dormant", "switched"), ("follow_children=0", "rotary"), ("", "kill")):
            with self.subTest(options=options, mode=mode):
                self.preloaded(BUILT["kernel_calls"], mode, options=options)
                # Of another API, so that what was seen of this one says nothing.
                _, report = self.report("--with", self.lint(api="flash_ref_rwkv7_fwd"), self.scratch / "journal")
                static = [one for one in report["findings"] if one["observed"] == ["static"]]
                self.assertEqual([one["runtime"] for one in static], ["unknown"])
                for one in self.journals():
                    one.unlink()

    def test_a_place_without_a_line_denies_nothing(self):
        """A call was made from a program that has no lines any more: it may be that one."""
        program = self.scratch / "bare"
        subprocess.run(["objcopy", "--strip-all", BUILT["kernel_calls"], program], check=True)
        self.preloaded(program, "clean")
        self.assertEqual(self.beside(self.scratch / "journal"), "unknown")

    def test_unknown(self):
        static = [one for one in self.joined("clean", api="flash_attn::mha_fwd")["findings"] if "static" in one["observed"]]
        self.assertEqual([one["runtime"] for one in static], ["unknown"])

    def test_what_is_no_static_report(self):
        self.preloaded(BUILT["kernel_calls"], "clean")
        journal = self.scratch / "journal"
        done, _ = self.report("--with", self.lint(tool="dtype-san"), journal)
        self.assertEqual(done.returncode, 2)
        self.assertIn("is a report of 'dtype-san', expected one of dtype-lint", done.stderr)
        done, _ = self.report("--with", self.scratch / "absent.json", journal)
        self.assertEqual(done.returncode, 2)
        self.assertIn("absent.json' cannot be read: No such file", done.stderr)
        done, _ = self.report("--with", self.scratch, journal)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"--with: '{self.scratch}' is a folder; expected a report of dtype-lint", done.stderr)
        (self.scratch / "broken.json").write_text("{", encoding="utf-8")
        done, _ = self.report("--with", self.scratch / "broken.json", journal)
        self.assertEqual(done.returncode, 2, done.stderr)


if __name__ == "__main__":
    main()
