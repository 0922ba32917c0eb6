"""Calls whose operands have no memory to read are found where they raise for their dtypes, else not looked at, nor are those for which there is no room: a run says which, in its closing line and in JSON, with their number."""
import pathlib

from support import BUILT, Case, main, marked_line, operands
from torch_support import PYTHON, skip_without_torch

PROGRAMS = pathlib.Path(BUILT["source"]) / "programs"
PROGRAM = PROGRAMS / "torch_unread.py"
KIND = "(traced, batched, nested or empty tensors)"
NO_ROOM = "(no room for the records of their threads)"
API = "scaled_dot_product_attention"


class Unread(Case):
    def watched(self, *words):
        done, report = self.run_command(PYTHON, "-W", "ignore", PROGRAM, *words)
        self.assertEqual((done.returncode, report["findings"]), (0, []), done.stderr)
        self.assertEqual(set(done.stdout.split()), {"torch.bfloat16"})
        unread = {entry["function"]: entry["detail"] for entry in report["not_analysed"] if entry["reason"] == "not-seen"}
        return report["watched"]["calls"].get(API, 0), unread

    def test_each(self):
        for how in ("grad", "vmap", "traced", "on_meta"):
            with self.subTest(how=how):
                self.assertEqual(self.watched("plain", how, how), (1, {f"{API} {KIND}": "2 calls, not looked at"}))
        calls, unread = self.watched("nested")
        self.assertEqual((calls, [name.endswith(KIND) for name in unread]), (0, [True]))

    def test_others_are_no_news(self):
        self.assertEqual(self.watched("plain", "plain"), (2, {}))

    def test_refused(self):
        """They have dtypes as others do: a call that raises for them is found, at the line that made it; that of the compiled function's
        caller where Dynamo traced it, behind many frames of its own."""
        for how, line in (("refused_by_vmap", "refused"), ("refused_on_meta", "refused"), ("refused_by_dynamo", "refused_by_dynamo")):
            with self.subTest(how=how):
                done, report = self.run_command(PYTHON, "-W", "ignore", PROGRAM, how)
                self.assertEqual((done.returncode, done.stdout), (0, "torch.bfloat16\n"), done.stderr)
                [finding] = report["findings"]
                self.assertEqual((finding["rule"], finding["location"]["line"]), ("attention-mixed-dtypes", marked_line("torch_unread.py", line)))
                self.assertEqual(operands(finding), {"q": "float32", "k": "bfloat16", "v": "bfloat16"})
                [note] = [entry["detail"] for entry in report["not_analysed"] if entry["reason"] == "note"]
                self.assertRegex(note, "^which operator made 'q' of scaled_dot_product_attention 'float32' is not known: it stands for another tensor")

    def test_what_they_stand_for(self):
        """Is looked at where it is called inside: what a transform of torch.func makes of a call, and a class of tensors."""
        for how, api in (("widened_by_grad", "aten::softmax"), ("widened_in_a_class", "_scaled_dot_product_flash_attention_for_cpu")):
            with self.subTest(how=how):
                done, report = self.run_command(PYTHON, "-W", "ignore", PROGRAM, how)
                self.assertEqual((done.returncode, done.stdout), (0, "torch.bfloat16\n"), done.stderr)
                [finding] = report["findings"]
                self.assertEqual((finding["rule"], finding["api"], finding["location"]["line"]),
                                 ("attention-implicit-promotion", api, marked_line("torch_unread.py", how)))

    def test_right_ones_in_a_class(self):
        self.assertEqual(self.watched("right_in_a_class"), (0, {}))

    def test_what_autocast_recasts(self):
        calls, unread = self.watched("recast")
        self.assertEqual((calls, unread), (0, {f"{API} {KIND}": "1 calls, not looked at"}))

    def test_the_closing_line(self):
        done = self.execute(BUILT["command"], "run", "--", PYTHON, "-W", "ignore", PROGRAM, "grad")
        self.assertIn(f"no call to a watched kernel was seen; not seen: calls of {API} {KIND}\n", done.stderr)

    def threads(self, how):
        done, report = self.run_command(PYTHON, "-W", "ignore", PROGRAMS / "torch_threads.py", how)
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done.stderr)
        unread = {entry["function"]: entry["detail"] for entry in report["not_analysed"] if entry["reason"] == "not-seen"}
        return [finding["count"] for finding in report["findings"]], report["watched"]["calls"].get(API, 0), unread

    def test_threads_that_live_at_once(self):
        self.assertEqual(self.threads("1500"), ([1500], 1500, {}))

    def test_no_room(self):
        """What is open on a thread has a bound: a call behind it is not looked at, and told of."""
        found, calls, unread = self.threads("deep")
        self.assertEqual((found, calls, sorted(unread)), ([], 0, [f"other operators {NO_ROOM}", f"{API} {NO_ROOM}"]))
        self.assertEqual(unread[f"{API} {NO_ROOM}"], "1 calls, not looked at")


if __name__ == "__main__":
    skip_without_torch()
    main()
