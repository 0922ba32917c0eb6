"""Origins of tensors whose allocator announces its blocks as those of libc10 and libc10_cuda do, without a GPU: of what was
freed nothing is claimed, and each announcement still goes where it went. In a C++ program that is joined too, whose calls are
bound and where a name of c10's means c10's own function."""
import re
import subprocess

from support import BUILT, LONG, Case, environment, main, operands

PRINTED = "3 blocks, 1536 bytes\ncalled\n"
WAYS = "cpu", "cuda", "cuda_1_13"


class AllocatorOrigins(Case):
    def judge(self, report, way):
        [source] = [one for one in report["watched"]["sources"] if one["name"] == "torch"]
        self.assertTrue(source["on"], source)
        found = {}
        for finding in report["findings"]:
            self.assertEqual((finding["rule"], finding["count"]), ("attention-mixed-dtypes", 1))
            self.assertEqual(operands(finding), {"q": "float32", "k": "bfloat16", "v": "bfloat16"})
            self.assertEqual({operand["device"] for operand in finding["operands"]}, {"cpu" if way == "cpu" else "cuda:0"})
            callers = re.findall(r"::(widened|not_seen|cast)\(", " ".join(frame["function"] for frame in finding["backtrace"]))
            found[callers[0]] = [step["note"] for step in finding.get("path", [])]
        self.assertEqual(found, {"widened": ["'q' is promoted by aten::mul(bfloat16, float32)"], "not_seen": [],
                                 "cast": ["'q' is cast by aten::to(bfloat16)"]})

    def test_started_under_it(self):
        for way in WAYS:
            with self.subTest(way=way):
                done, report = self.run_command(BUILT["fake_torch"], way, options=("--options=torch=origins",))
                self.assertEqual((done.returncode, done.stdout), (0, PRINTED), done.stderr)
                self.judge(report, way)

    def test_joined(self):
        for way in WAYS:
            with self.subTest(way=way):
                job = subprocess.Popen([BUILT["fake_torch"], way, "wait"], env=environment(), cwd=self.scratch, text=True,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                self.addCleanup(job.communicate)
                self.addCleanup(job.kill)
                self.assertEqual(job.stdout.readline(), "ready\n")
                done = self.execute(BUILT["command"], "attach", job.pid, "--library", BUILT["library"], "--options",
                                    f"journal={self.scratch / 'journal'}:torch=origins")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(job.communicate("\n", timeout=LONG)[0], PRINTED)
                self.judge(self.report(self.scratch / "journal")[1], way)
                for journal in self.journals():
                    journal.unlink()

    def test_without_origins(self):
        _, report = self.run_command(BUILT["fake_torch"], "cuda", options=("--options=torch=contracts",))
        self.assertEqual([finding.get("path", []) for finding in report["findings"]], [[]] * 3)


if __name__ == "__main__":
    main()
