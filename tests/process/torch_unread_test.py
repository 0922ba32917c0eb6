"""Calls whose operands have no memory to read are not looked at: a run says which, in its closing line and in JSON, with their number."""
import pathlib

from support import BUILT, Case, main
from torch_support import PYTHON, skip_without_torch

PROGRAM = pathlib.Path(BUILT["source"]) / "programs" / "torch_unread.py"
KIND = "(traced, batched, nested or empty tensors)"
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

    def test_the_closing_line(self):
        done = self.execute(BUILT["command"], "run", "--", PYTHON, "-W", "ignore", PROGRAM, "grad")
        self.assertIn(f"no call to a watched kernel was seen; not seen: calls of {API} {KIND}\n", done.stderr)


if __name__ == "__main__":
    skip_without_torch()
    main()
