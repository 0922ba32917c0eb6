"""Journals survive how a process ends, and a bad journal is named exactly."""
import os
import re
import shutil
import signal
import stat
import struct

from support import BUILT, Case, main, preloadable

HEADER = struct.Struct("<IIIIHH")  # FrameHeader in sanitizer/protocol/journal.h
FINDING, SITE = 4, 9


def xxh32(content):
    """The checksum of a frame, by its definition."""
    primes = (2654435761, 2246822519, 3266489917, 668265263, 374761393)
    mask = 0xffffffff

    def turned(value, count):
        value &= mask
        return (value << count | value >> (32 - count)) & mask
    at, value = 0, primes[4]
    if len(content) >= 16:
        lanes = [primes[0] + primes[1], primes[1], 0, -primes[0]]
        while at + 16 <= len(content):
            lanes = [turned(lane + word * primes[1], 13) * primes[0]
                     for lane, word in zip(lanes, struct.unpack_from("<4I", content, at))]
            at += 16
        value = sum(turned(lane, count) for lane, count in zip(lanes, (1, 7, 12, 18)))
    value += len(content)
    while at + 4 <= len(content):
        value = turned(value + struct.unpack_from("<I", content, at)[0] * primes[2], 17) * primes[3]
        at += 4
    for byte in content[at:]:
        value = turned(value + byte * primes[4], 11) * primes[0]
    value &= mask
    value = (value ^ value >> 15) * primes[1] & mask
    value = (value ^ value >> 13) * primes[2] & mask
    return value ^ value >> 16


class Survival(Case):
    def finding(self):
        done, report = self.report(self.scratch / "journal")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(report["findings"]), 1)
        return report

    def test_kill_keeps_the_findings(self):
        self.assertEqual(self.preloaded(BUILT["kernel_calls"], "kill").returncode, -signal.SIGKILL)
        report = self.finding()
        self.assertEqual(report["findings"][0]["count"], 4)  # of 5: the last power of two
        self.assertEqual([process["complete"] for process in report["watched"]["processes"]], [False])

    def test_exec_is_said(self):
        self.assertEqual(self.preloaded(BUILT["kernel_calls"], "exec").returncode, 4)
        done, report = self.report(self.scratch / "journal")
        self.assertEqual(done.returncode, 1, done.stderr)
        second, first = sorted(report["watched"]["processes"], key=lambda process: process["replaced_by"])
        self.assertEqual((first["complete"], first["replaced_by"]), (True, "the-next wrong"))
        self.assertEqual((second["complete"], second["replaced_by"], second["pid"]), (True, "", first["pid"]))
        self.assertIn("(became 'the-next wrong' by exec)", done.stdout)
        self.assertNotIn("without its closing record", done.stdout)
        self.assertEqual(sum(finding["count"] for finding in report["findings"]), 6 + 1)

    def test_other_abnormal_ends(self):
        for mode, status in (("segv", -signal.SIGSEGV), ("_exit", 6)):
            self.assertEqual(self.preloaded(BUILT["kernel_calls"], mode).returncode, status)
        self.assertEqual(len(self.journals()), 2)
        self.assertEqual(self.report(self.scratch / "journal")[0].returncode, 1)

    def test_journal_is_private(self):
        self.preloaded(BUILT["kernel_calls"], "wrong")
        journal = self.journals()[0]
        self.assertEqual(stat.S_IMODE(journal.stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(journal.parent.stat().st_mode), 0o700)

    def test_default_folder_must_be_ours(self):
        folder = self.scratch / f"dtype-san-{os.geteuid()}"
        folder.mkdir()
        folder.chmod(0o777)
        done = self.execute(BUILT["kernel_calls"], "wrong", LD_PRELOAD=preloadable(BUILT["library"]),
                            TMPDIR=str(self.scratch))
        self.assertIn("permission denied", done.stderr)
        self.assertEqual(list(folder.iterdir()), [])

    def test_created_anew_and_through_no_link(self):
        """The name cannot be foretold, so it is the system call that shows what a file or link of that name would meet."""
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        trace = self.scratch / "trace"
        done = self.execute("strace", "-f", "-qq", "-e", "trace=openat", "-o", trace, "-E", f"LD_PRELOAD={preloadable(BUILT['library'])}",
                            "-E", f"DTYPE_SAN_OPTIONS=journal={self.scratch / 'journal'}", BUILT["kernel_calls"], "close")
        if "ptrace" in done.stderr.lower():
            self.skipTest(f"no process can be traced here: {done.stderr.strip()}")
        opened = re.findall(r'openat\(.*\.dtype-san", (\S+?)(?:, (\d+))?\)', trace.read_text(encoding="utf-8"))
        first, *again = [(set(flags.split("|")), mode) for flags, mode in opened]
        self.assertLessEqual({"O_CREAT", "O_EXCL", "O_NOFOLLOW", "O_APPEND", "O_CLOEXEC"}, first[0])
        self.assertEqual(first[1], "0600")
        self.assertGreater(len(again), 0)  # the program had closed it
        for flags, mode in again:
            self.assertLessEqual({"O_NOFOLLOW", "O_APPEND", "O_CLOEXEC"}, flags)
            self.assertNotIn("O_CREAT", flags)

    def test_kept_journal_gives_the_same_report(self):
        _, first = self.calls("wrong", 3, options=["--journal", str(self.scratch / "journal")])
        done, second = self.report(self.scratch / "journal")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(first, second)

    def test_an_older_run_is_not_reported_again(self):
        options = ["--journal", str(self.scratch / "journal")]
        self.calls("wrong", options=options)
        _, report = self.calls("clean", options=options)
        self.assertEqual(report["findings"], [])

    def test_same_finding_of_two_runs_is_one(self):
        for _ in range(2):
            self.preloaded(BUILT["kernel_calls"], "wrong", 3)
        finding = self.finding()["findings"][0]
        self.assertEqual(finding["count"], 6)
        self.assertEqual([occurrence["count"] for occurrence in finding["occurrences"]], [3, 3])

    def test_clean_journal(self):
        self.preloaded(BUILT["kernel_calls"], "clean")
        done, report = self.report(self.scratch / "journal")
        self.assertEqual((done.returncode, report["findings"]), (0, []))
        self.assertIn("2 calls to watched kernels", done.stdout)


class BadJournals(Case):
    def setUp(self):
        super().setUp()
        self.preloaded(BUILT["kernel_calls"], "wrong")
        self.journal = self.journals()[0]
        self.bytes = self.journal.read_bytes()

    def expect(self, content, message, findings):
        bad = self.scratch / "bad.dtype-san"
        bad.write_bytes(content)
        done, report = self.report(bad)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(f"{bad}: {message}", done.stderr)
        self.assertEqual(len(report["findings"]), findings)
        self.assertEqual({entry["reason"] for entry in report["not_analysed"]}, {"unreadable"})
        self.assertIn(message, report["not_analysed"][0]["detail"])

    def test_foreign_file(self):
        self.expect(b"\x7fELF and so on" * 10, "not a dtype-san journal: begins with 7f 45 4c 46", 0)

    def test_empty_file(self):
        self.expect(b"", "empty (0 bytes), not a dtype-san journal", 0)

    def test_cut_inside_the_last_record(self):
        self.expect(self.bytes[:-3], "truncated: the record at byte", 1)

    def test_cut_inside_the_first_record(self):
        self.expect(self.bytes[:30], "truncated: 30 bytes hold no whole record", 0)

    def test_damage_in_the_middle(self):
        self.expect(self.bytes[:25] + b"\xff" + self.bytes[26:], "damaged:", 1)

    def frames(self):
        at = 0
        while at < len(self.bytes):
            end = at + HEADER.size + HEADER.unpack_from(self.bytes, at)[2]
            yield HEADER.unpack_from(self.bytes, at), self.bytes[at + HEADER.size:end]
            at = end

    def changed(self, change):
        """The journal with every frame's type and payload as change(type, payload) gives them, None leaves it out."""
        content, sequence = b"", 0
        for (magic, _, _, _, kind, form), payload in self.frames():
            result = change(kind, payload)
            if result is None:
                continue
            kind, payload = result
            checked = struct.pack("<IIHH", len(payload), sequence, kind, form) + payload
            content += struct.pack("<II", magic, xxh32(checked)) + checked
            sequence += 1
        return content

    def test_frames_rewritten_unchanged_are_the_journal(self):
        self.assertEqual(self.changed(lambda *frame: frame), self.bytes)

    def test_record_of_a_later_version(self):
        later = self.changed(lambda kind, payload: (99 if kind == FINDING else kind, payload))
        self.expect(later, f"the record at byte {next(self.offsets(FINDING))} is of type 99, which this dtype-san does not know: use a newer one", 0)

    def offsets(self, wanted):
        at = 0
        for header, payload in self.frames():
            if header[4] == wanted:
                yield at
            at += HEADER.size + len(payload)

    def test_finding_that_only_the_closing_record_knows(self):
        without = self.changed(lambda kind, payload: None if kind == FINDING else (kind, payload))
        self.expect(without, "1 of the 1 findings that its closing record counts are missing", 0)

    def test_members_that_a_later_version_appends(self):
        self.journal.unlink()
        self.preloaded(BUILT["origins"], "rotary")
        (self.journal,) = self.journals()
        self.bytes = self.journal.read_bytes()
        self.assertTrue(list(self.offsets(SITE)), "the journal has no site")
        later = self.scratch / "later.dtype-san"
        later.write_bytes(self.changed(lambda kind, payload: (kind, payload + b"\xff" * 9)))
        done, report = self.report(later)
        self.assertEqual((done.returncode, len(report["findings"])), (1, 1), done.stderr)

    def test_missing_file_is_a_usage_error(self):
        done, report = self.report(self.scratch / "nothing")
        self.assertEqual((done.returncode, report), (2, None))
        self.assertIn("nothing: No such file or directory", done.stderr)

    def test_a_folder_or_a_pipe_named_like_a_journal_does_not_stop_the_report(self):
        runs = self.scratch / "runs"
        runs.mkdir()
        shutil.copy(self.journal, runs / "good.dtype-san")
        (runs / "folder.dtype-san").mkdir()
        os.mkfifo(runs / "pipe.dtype-san")
        done, report = self.report(runs)
        self.assertEqual(done.returncode, 3)
        self.assertIn("folder.dtype-san: cannot be read: not a regular file", done.stderr)
        self.assertIn("pipe.dtype-san: cannot be read: not a regular file", done.stderr)
        self.assertEqual(len(report["findings"]), 1)

    def test_a_large_file_of_another_kind_is_not_read(self):
        large = self.scratch / "large.dtype-san"
        large.touch()
        os.truncate(large, 1 << 40)
        done, report = self.report(self.journal, large)
        self.assertEqual((done.returncode, len(report["findings"])), (3, 1))
        self.assertIn("large.dtype-san: not a dtype-san journal: begins with 00 00 00 00", done.stderr)

    def test_folder_without_journals(self):
        empty = self.scratch / "empty"
        empty.mkdir()
        done, _ = self.report(empty)
        self.assertEqual(done.returncode, 3)
        self.assertIn("no journal (*.dtype-san) in this directory", done.stderr)
        self.assertIn("source: flash_ref off (no process was watched)\n", done.stdout)

    def test_a_good_journal_beside_a_bad_one_is_reported(self):
        bad = self.scratch / "bad.dtype-san"
        bad.write_bytes(b"xxxx")
        done, report = self.report(self.journal, bad)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(len(report["findings"]), 1)

    def test_changed_binary_gives_no_lines(self):
        copy = self.scratch / "copy"
        shutil.copy2(BUILT["kernel_calls"], copy)
        before = set(self.journals())
        self.preloaded(copy, "wrong")
        (journal,) = set(self.journals()) - before
        shutil.copy2(BUILT["no_kernels"], copy)
        done, report = self.report(journal)
        self.assertEqual(done.returncode, 1)
        frame = report["findings"][0]["backtrace"][0]
        self.assertEqual((frame["module"], frame["line"], frame["function"]), (str(copy), 0, ""))
        self.assertIn("build-id is another one", report["not_analysed"][0]["detail"])


if __name__ == "__main__":
    main()
