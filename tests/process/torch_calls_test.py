"""torch=calls: attention operators through their jump slots, and nothing else; and origins for some of the time, which a preload
by hand and attach note beside it."""
import pathlib
import re
import subprocess

from support import BUILT, LONG, Case, environment, main, marked_line, operands
from torch_support import PYTHON, skip_without_torch

PROGRAMS = pathlib.Path(BUILT["source"]) / "programs"
ENTERED = re.compile(r"entered (\d+) times \(torch=calls\)")


def why(report):
    [source] = [one for one in report["watched"]["sources"] if one["name"] == "torch"]
    return source["why"] if source["on"] else f"off: {source['why']}"


class Calls(Case):
    def watched(self, *words, options="torch=calls", program="torch_calls.py"):
        done, report = self.run_command(PYTHON, PROGRAMS / program, *words, options=(f"--options={options}",))
        return done, report

    def test_no_other_operator_enters(self):
        done, report = self.watched()
        self.assertEqual((done.returncode, report["findings"]), (0, []), done.stderr)
        calls = int(done.stdout.split()[0])
        entered = int(ENTERED.search(why(report))[1])
        self.assertEqual(entered, calls)
        self.assertEqual(report["watched"]["calls"]["scaled_dot_product_attention"], calls - 1)  # but for the one without memory
        self.assertIn("Not seen: operators of libraries, autograd Functions, compiled code", why(report))
        [note] = [one["detail"] for one in report["not_analysed"] if "torch=calls" in one["detail"]]
        self.assertIn("1 call of scaled_dot_product_attention under autocast had operands that differ in dtype", note)

    def called_at(self, finding):
        """The line in main(), behind those of attend() and raises()."""
        return [frame["line"] for frame in finding["backtrace"] if frame["file"].endswith("torch_calls.py")][2]

    def test_wrong_calls(self):
        _, report = self.watched("wrong")
        found = {self.called_at(finding): (finding["rule"], operands(finding)) for finding in report["findings"]}
        self.assertEqual(found, {
            marked_line("torch_calls.py", "mixed"): ("attention-mixed-dtypes", {"q": "float32", "k": "bfloat16", "v": "bfloat16"}),
            marked_line("torch_calls.py", "mask"): ("attention-mask-dtype", {"q": "bfloat16", "k": "bfloat16", "v": "bfloat16",
                                                                             "mask": "float64"})})
        self.assertTrue(all(operand["origin"] is None for finding in report["findings"] for operand in finding["operands"]))

    def test_one_rule(self):
        """What the options make of each other."""
        for options, expected in (("torch=calls", "(torch=calls). Not seen: .*, origins$"),
                                  ("torch=calls:origins=0", "(torch=calls). Not seen: .*, origins$"),
                                  ("torch=calls:torch_every=3", "Origins are noted in one of 3 optimizer steps"),
                                  ("torch=calls:torch_every=3:origins=0", "(torch=calls). Not seen: .*, origins$"),
                                  ("torch=contracts:torch_every=3", r"without origins \(torch=contracts\)$"),
                                  ("torch=origins", "with the origins of its dtypes$"),
                                  ("torch=auto", "with the origins of its dtypes$"),
                                  ("torch=auto:origins=0", r"without origins \(torch=contracts\)$")):
            with self.subTest(options=options):
                self.assertRegex(why(self.watched(options=options)[1]), expected.replace("(torch=calls)", r"\(torch=calls\)"))

    def test_preloaded_by_hand(self):
        for options, expected in (("", "Origins are noted for 50 ms of each second"), ("torch_ms=0", "Not seen: .*, origins$"),
                                  ("origins=0", "Not seen: .*, origins$"), ("torch_every=5", "noted in one of 5 optimizer steps"),
                                  ("torch=contracts", r"without origins \(torch=contracts\)$")):
            with self.subTest(options=options):
                done = self.preloaded(PYTHON, PROGRAMS / "torch_calls.py", options=options)
                self.assertEqual(done.returncode, 0, done.stderr)
                report = self.report("--options=symbolize=0", self.scratch / "journal")[1]
                self.assertRegex(why(report), expected)
                self.assertEqual(report["watched"]["calls"]["scaled_dot_product_attention"], int(done.stdout.split()[0]) - 1)
                for journal in self.journals():
                    journal.unlink()

    def test_slow_steps(self):
        """One call in a step that is longer than a window is: the window lasts until it has seen a whole step."""
        done = self.preloaded(PYTHON, PROGRAMS / "torch_windows.py", "4", "0.15", options="torch_ms=20")
        self.assertEqual(done.returncode, 0, done.stderr)
        _, report = self.report(self.scratch / "journal")
        [finding] = report["findings"]
        self.assertEqual(finding["location"]["line"], marked_line("torch_windows.py", "widened"))

    def test_a_joined_job(self):
        """Its origins are noted in windows: there is one finding, which opens with the operator that widened."""
        job = subprocess.Popen([PYTHON, PROGRAMS / "torch_windows.py", "3"], env=environment(), cwd=self.scratch, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        self.assertEqual(job.stdout.readline(), "ready\n")
        done = self.execute(BUILT["command"], "attach", job.pid, "--library", BUILT["library"], "--options",
                            f"journal={self.scratch / 'journal'}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Origins are noted for 50 ms of each second", done.stderr)
        _, errors = job.communicate("\n", timeout=LONG)
        self.assertEqual(job.returncode, 0, errors)
        _, report = self.report(self.scratch / "journal")
        [finding] = report["findings"]
        self.assertEqual(finding["location"]["line"], marked_line("torch_windows.py", "widened"))
        self.assertIn(marked_line("torch_windows.py", "attended"), [sink["line"] for sink in finding["sinks"]])
        self.assertGreater(report["watched"]["calls"]["scaled_dot_product_attention"], finding["count"] // 2)


if __name__ == "__main__":
    skip_without_torch()
    main()
