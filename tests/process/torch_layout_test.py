"""The start test of the torch source, with a library that keeps everything elsewhere than any release of PyTorch: a layout
that fits is used, one with a member missing or in two places is refused with the reason, and nothing is read by a guess."""
import re
import subprocess

from support import BUILT, LONG, Case, environment, main, operands

REFUSED = {
    "dtype": "a tensor's dtype was not found",
    "sizes": "a tensor's sizes was not found",
    "storage": "a tensor's storage was not found",
    "device": "a tensor's device does not follow its dtype",
    "inputs": "the operands of a record was not found",
    "outputs": "the results of a record was not found",
    "list": "the tensors of a list was not found",
    "list_tag": "a list has the tag of a tensor",
    "two_dtypes": "a tensor's dtype could be in 2 places",
    "two_sizes": "a tensor's sizes could be in 2 places",
    "two_storages": "a tensor's storage could be in 2 places",
    "two_inputs": "the operands of a record could be in 2 places",
    "tags": "the operands of a record was not found",
    "silent": "no record came of an operator that was called",
}


class Layout(Case):
    def watched(self, what):
        done, report = self.run_command(BUILT["fake_torch"], FAKE_TORCH=what)
        self.assertEqual((done.returncode, done.stdout), (0, "called\n"), done.stderr)
        [source] = [one for one in report["watched"]["sources"] if one["name"] == "torch"]
        return source, report

    def test_fits(self):
        for what in ("right", "stale", "bad_pointers"):
            with self.subTest(what=what):
                source, report = self.watched(what)
                self.assertTrue(source["on"], source)
                [finding] = report["findings"]
                self.assertEqual(operands(finding), {"q": "float32", "k": "bfloat16", "v": "bfloat16"})
                self.assertEqual(finding["operands"][0]["shape"], [1, 2, 2, 4])

    def test_refused(self):
        for what, reason in REFUSED.items():
            with self.subTest(what=what):
                source, report = self.watched(what)
                self.assertFalse(source["on"])
                self.assertRegex(source["why"], re.escape(reason))
                self.assertEqual((report["findings"], report["watched"]["calls"].get("scaled_dot_product_attention", 0)), ([], 0))

    def test_refused_in_one_of_two_processes(self):
        """The line of sources says that it was on. What the other one called was not looked at, and that is said."""
        script = f"FAKE_TORCH=silent '{BUILT['fake_torch']}' && FAKE_TORCH=right '{BUILT['fake_torch']}'"
        done, report = self.run_command("sh", "-c", script)
        self.assertEqual((done.returncode, done.stdout), (0, "called\ncalled\n"), done.stderr)
        [source] = [one for one in report["watched"]["sources"] if one["name"] == "torch"]
        self.assertTrue(source["on"], source)
        [entry] = [one for one in report["not_analysed"] if one["reason"] == "source-off"]
        self.assertRegex(entry["detail"], r"^torch, which was on elsewhere, was off in process \d+: no record came of an operator")
        self.assertIn(entry["detail"], done.stderr)
        self.assertEqual([one["count"] for one in report["findings"]], [1])
        done, report = self.run_command("sh", "-c", script.replace("=right", "=silent"))
        self.assertEqual([one for one in report["not_analysed"] if one["reason"] == "source-off"], [], done.stderr)

    def test_no_jump_slots(self):
        """No call goes through one: torch=calls is refused with the reason, auto is contracts and sees the call."""
        done, report = self.run_command(BUILT["fake_torch"], options=("--options=torch=calls",), FAKE_TORCH="right")
        self.assertEqual((done.returncode, report["findings"]), (0, []), done.stderr)
        [source] = [one for one in report["watched"]["sources"] if one["name"] == "torch"]
        self.assertFalse(source["on"])
        self.assertIn("no object calls an attention operator of PyTorch's through a jump slot (torch=contracts sees them all)", source["why"])
        done = self.preloaded(BUILT["fake_torch"], FAKE_TORCH="right")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = self.report(self.scratch / "journal")[1]
        [source] = [one for one in report["watched"]["sources"] if one["name"] == "torch"]
        self.assertTrue(source["on"] and source["why"].endswith("without origins (torch=contracts)"), source)
        self.assertEqual(len(report["findings"]), 1)

    def test_a_job_that_ends_meanwhile(self):
        """Its end waits for the start test, which uses what that destroys."""
        job = subprocess.Popen([BUILT["fake_torch"], "cpu", "wait"], env=environment(FAKE_TORCH="slow"), cwd=self.scratch, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        self.assertEqual(job.stdout.readline(), "ready\n")
        tool = subprocess.Popen([BUILT["command"], "attach", str(job.pid), "--library", BUILT["library"], "--options",
                                 f"journal={self.scratch / 'journal'}"], env=environment(), text=True, stderr=subprocess.PIPE)
        self.addCleanup(tool.communicate)
        self.assertEqual(job.stdout.readline(), "probed\n")
        job.communicate("\n", timeout=LONG)
        self.assertEqual(job.returncode, 0)
        tool.communicate(timeout=LONG)


if __name__ == "__main__":
    main()
