"""Ranks of a PyTorch job that torchrun starts: a journal for each, one report, the rank that differs named; and what the journals
hold where a rank is killed, with which torchrun ends the others."""
import pathlib
import re

from support import BUILT, Case, main, marked_line, operands
from torch_support import PYTHON, skip_without_torch

PROGRAM = pathlib.Path(BUILT["source"]) / "programs" / "torch_ranks.py"
RANKS, ODD = 2, 1
API = "scaled_dot_product_attention"


class Ranks(Case):
    def torchrun(self, *words, **changes):
        """The finished job, and the pid of each rank."""
        program = (PYTHON, "-W", "ignore", "-m", "torch.distributed.run", f"--nproc_per_node={RANKS}", "--standalone", PROGRAM, ODD, *words)
        done = self.execute(BUILT["command"], "run", "--journal", self.scratch / "journal", "--", *program, OMP_NUM_THREADS="1", **changes)
        pids = dict(re.findall(r"rank (\d+) pid (\d+) status", done.stdout))
        self.assertEqual(sorted(map(int, pids)), list(range(RANKS)), done.stdout + done.stderr)
        return done, {int(rank): int(pid) for rank, pid in pids.items()}

    def journal_of(self, rank, pid):
        [journal] = (self.scratch / "journal").glob(f"*.{pid}.*.rank{rank}.dtype-san")
        return journal

    def expect(self, pids):
        """The report of all: one finding, of the odd rank, which opens with its line."""
        _, report = self.report(*(self.journal_of(*rank) for rank in pids.items()))
        [finding] = report["findings"]
        self.assertEqual((finding["rule"], operands(finding)), ("attention-mixed-dtypes", {"q": "float32", "k": "bfloat16", "v": "bfloat16"}))
        self.assertEqual([(one["rank"], one["pid"]) for one in finding["occurrences"]], [(ODD, pids[ODD])])
        self.assertEqual((pathlib.Path(finding["location"]["file"]).name, finding["location"]["line"]),
                         (PROGRAM.name, marked_line(PROGRAM.name, "widened")))
        [difference] = [entry for entry in report["not_analysed"] if entry["reason"] == "ranks-differ"]
        self.assertIn(f"q is bfloat16 in rank {1 - ODD}, float32 in rank {ODD}", difference["detail"])
        self.assertTrue(difference["file"].endswith(f"{PROGRAM.name}:{marked_line(PROGRAM.name, 'rank')}"), difference)
        return report

    def test_a_rank_that_differs(self):
        done, pids = self.torchrun()
        self.assertEqual(done.returncode, 0, done.stderr)
        report = self.expect(pids)
        self.assertEqual((report["watched"]["calls"][API], [one["complete"] for one in report["watched"]["processes"]]), (12, [True] * RANKS))

    def test_a_rank_that_is_killed(self):
        """Of each the last power of two of its calls at least; the job's status is torchrun's."""
        done, pids = self.torchrun("kill")
        self.assertEqual(done.returncode, 1, done.stderr)
        report = self.expect(pids)
        self.assertIn(report["watched"]["calls"][API], range(4 + 4, 13))
        complete = {one["pid"]: one["complete"] for one in report["watched"]["processes"]}
        self.assertFalse(complete[pids[ODD]])


if __name__ == "__main__":
    skip_without_torch()
    main()
