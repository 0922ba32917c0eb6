"""Whichever way a PyTorch job ends, becomes another program or has children: its findings, calls and notes are each told once, its
exit status is its own, and what cannot be known is said."""
import pathlib
import signal

from support import BUILT, Case, main, marked_line
from torch_support import PYTHON, skip_without_torch

PROGRAM = pathlib.Path(BUILT["source"]) / "programs" / "torch_ends.py"
API = "scaled_dot_product_attention"
WRONG, CALLS = 3, 9  # in the job itself
CHILD = 6  # wrong calls of a child


class Ends(Case):
    def ended(self, *words, status=0, printed=""):
        """The report of a job that ends with this status, and prints this."""
        done, report = self.run_command(PYTHON, "-W", "ignore", PROGRAM, *words)
        self.assertEqual((done.returncode, done.stdout), (status, printed), done.stderr)
        self.text = done.stderr
        return report

    def counts(self, report):
        """Of each marked line the number of times that its finding was seen, in each process."""
        names = {marked_line(PROGRAM.name, name): name for name in ("parent", "child")}
        found = {}
        for finding in report["findings"]:
            line = next(frame["line"] for frame in finding["backtrace"] if frame["language"] == "python")
            found.setdefault(names[line], []).extend(one["count"] for one in finding["occurrences"])
        return {name: sorted(counts) for name, counts in found.items()}

    def recasts(self, report):
        """What the notes say of the call that autocast recasts: how many calls, in all notes together."""
        notes = [entry["detail"] for entry in report["not_analysed"] if "under autocast" in entry["detail"]]
        for note in notes:
            self.assertIn(f"{PROGRAM.name}:{marked_line(PROGRAM.name, 'recast')}", note)
        return [int(note.split("dtype: ")[1].split()[0]) for note in notes]

    def expect(self, report, parent=(WRONG,), child=(), calls=CALLS, recasts=(1,)):
        counts = {"parent": list(parent), **({"child": list(child)} if child else {})}
        self.assertEqual((self.counts(report), report["watched"]["calls"][API], tuple(self.recasts(report))), (counts, calls, tuple(recasts)))

    def ends(self, report):
        return [(process["complete"], process["replaced_by"]) for process in report["watched"]["processes"]]

    def test_its_own_ends(self):
        for words, status in ((("exit", "5"), 5), (("_exit", "6"), 6), (("raise",), 1)):
            with self.subTest(words=words):
                report = self.ended(*words, status=status)
                self.assertEqual(self.ends(report), [(True, "")])
                self.expect(report)

    def test_signals(self):
        """Counts are those of the last power of two, what is told at the end is missing, and the report says that it may be."""
        for words, number in ((("signal", "SIGKILL"), signal.SIGKILL), (("signal", "SIGSEGV"), signal.SIGSEGV), (("abort",), signal.SIGABRT)):
            with self.subTest(words=words):
                report = self.ended(*words, status=-number)
                self.assertEqual(self.ends(report), [(False, "")])
                self.expect(report, parent=[2], calls=8, recasts=())
                self.assertIn("(ended without its closing record: counts may be low)", self.text)

    def test_a_signal_beside_a_stand_in(self):
        """That another library computed is told with the finding, not at the end."""
        _, report = self.run_command(PYTHON, PROGRAM.with_name("torch_flash.py"), "killed")
        [finding] = report["findings"]
        self.assertEqual(self.ends(report), [(False, "")])
        self.assertTrue(finding["message"].endswith("; 'flash_attn' is stood in for here, and did not run itself"), finding["message"])

    def test_exec(self):
        report = self.ended("exec", "/bin/echo", "hello", printed="hello\n")
        self.assertEqual(self.ends(report), [(True, "/bin/echo hello"), (True, "")])
        self.expect(report)
        report = self.ended("exec_with", "/bin/sh", "-c", "echo $LEFT", printed="over\n")
        self.assertEqual([complete for complete, _ in self.ends(report)], [True, True])
        self.expect(report)

    def test_exec_of_a_job(self):
        """The same process, which is watched on: both have a journal, and the counts add up."""
        report = self.ended("exec", PYTHON, "-W", "ignore", PROGRAM, "exit", "3", status=3)
        self.assertEqual(len({process["pid"] for process in report["watched"]["processes"]}), 1)
        self.assertEqual([complete for complete, _ in self.ends(report)], [True, True])
        self.expect(report, parent=[2 * WRONG], calls=2 * CALLS, recasts=(1, 1))

    def test_exec_that_fails(self):
        """Is no end, and what it told is not told again; the line of the finding is one, from wherever it is come to."""
        report = self.ended("exec_in_vain", "a", printed="No such file or directory\n")
        self.assertEqual(self.ends(report), [(True, "")])
        self.expect(report, parent=[2 * WRONG], calls=2 * CALLS, recasts=(1, 1))

    def test_forks(self):
        """A child tells of what it does itself, and not of what its parent did before."""
        for words in (("fork",), ("fork", "quietly"), ("process", "fork")):
            with self.subTest(words=words):
                report = self.ended(*words)
                self.assertEqual(self.ends(report), [(True, ""), (True, "")])
                self.expect(report, child=[CHILD], calls=CALLS + CHILD)
        report = self.ended("idle_fork")
        self.expect(report)

    def test_other_children(self):
        for method in ("spawn", "forkserver"):
            with self.subTest(method=method):
                report = self.ended("process", method)
                self.expect(report, child=[CHILD], calls=CALLS + CHILD)
        report = self.ended("pool", "fork")
        self.assertEqual(sum(self.counts(report).pop("child")), 4 * CHILD)
        self.assertEqual((report["watched"]["calls"][API], self.recasts(report)), (CALLS + 4 * CHILD, [1]))

    def test_a_child_that_is_not_watched(self):
        report = self.ended("bare")
        self.expect(report)
        [note] = [entry["detail"] for entry in report["not_analysed"] if "LD_PRELOAD" in entry["detail"]]
        self.assertRegex(note, "^1 child became another program by exec without libdtype_san.so")


class ExitCodes(Case):
    """What a CI job asks for."""

    def watched(self, *options, words=("exit", "0"), **changes):
        done, report = self.run_command(PYTHON, "-W", "ignore", PROGRAM, *words, options=options, **changes)
        return done.returncode, report

    def test_findings(self):
        self.assertEqual(self.watched()[0], 0)
        status, report = self.watched("--error-exitcode", "9")
        self.assertEqual((status, len(report["findings"])), (9, 1))
        status, report = self.watched("--error-exitcode", "9", "--options=rules=-attention-mixed-dtypes")
        self.assertEqual((status, report["findings"]), (0, []))

    def test_a_job_that_is_stopped(self):
        status, report = self.watched("--halt-on-error", "--options=exitcode=7")
        self.assertEqual((status, [finding["count"] for finding in report["findings"]]), (7, [1]))
        status, report = self.watched("--halt-on-error", "--error-exitcode", "9")
        self.assertEqual((status, len(report["findings"])), (9, 1))

    def test_preloaded_by_hand(self):
        done = self.preloaded(PYTHON, "-W", "ignore", PROGRAM, "exit", "0", options="exitcode=12:torch=contracts")
        self.assertEqual(done.returncode, 12, done.stderr)
        shown, report = self.report(self.scratch / "journal")
        self.assertEqual((shown.returncode, len(report["findings"])), (1, 1))

    def test_a_finding_that_is_suppressed(self):
        file = self.scratch / "suppressions"
        file.write_text("attention-mixed-dtypes:*torch_ends.py*  # known\n", encoding="utf-8")
        status, report = self.watched("--error-exitcode", "9", f"--options=suppressions={file}")
        self.assertEqual((status, [bool(one["suppression"]) for one in report["findings"]]), (0, [True]))


if __name__ == "__main__":
    skip_without_torch()
    main()
