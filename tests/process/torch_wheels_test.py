"""Releases of PyTorch, from the oldest that is watched to the newest, in every mode: what a release raises at is a finding, with the
line that widened, and what it takes is none. Each is the ordinary wheel over empty CUDA libraries (torch_wheels.sh)."""
import os
import pathlib
import re
import sys

from support import BUILT, Case, main, marked_line

PROGRAM = "torch_wheels.py"
PROGRAMS = pathlib.Path(BUILT["source"]) / "programs"
WHEELS = sorted(pathlib.Path(BUILT["torch_wheels"]).glob("*/ready"), key=lambda ready: [int(word) for word in ready.parent.name.split(".")])
WORDS = os.environ.get("DTYPE_GUARD_TORCH_WHEELS", "")


class Wheels(Case):
    def wheels(self):
        for ready in WHEELS:
            if not WORDS or ready.parent.name in WORDS.split(","):
                yield ready.parent.name, ready.parent / "bin/python"

    def run_wheel(self, python, options):
        done, report = self.run_command(python, "-W", "ignore", PROGRAMS / PROGRAM, options=(f"--options={options}",))
        self.assertEqual(done.returncode, 0, done.stderr)
        [source] = [one for one in report["watched"]["sources"] if one["name"] == "torch"]
        self.assertTrue(source["on"], source)
        said = dict(line.split() for line in done.stdout.splitlines())
        found = {}
        for finding in report["findings"]:
            lines = [frame["line"] for frame in finding["backtrace"] if frame["file"].endswith(PROGRAM)]
            [name] = [name for name in said if name not in ("calls",) and marked_line(PROGRAM, name) in lines]
            found[name] = finding
        return said, found, report, source["why"]

    def checked(self, report):
        return sum(report["watched"]["calls"].get(name, 0) for name in ("scaled_dot_product_attention", "_scaled_dot_product_attention"))

    def test_origins(self):
        for version, python in self.wheels():
            with self.subTest(version=version):
                said, found, report, _ = self.run_wheel(python, "torch=origins")
                self.assertEqual({name for name, how in said.items() if how == "raises"}, set(found))
                self.assertEqual(self.checked(report), int(said["calls"]))
                self.assertEqual(found["mixed"]["location"]["line"], marked_line(PROGRAM, "mixed"))
                self.assertIn("promoted by aten::mul(bfloat16, float32)", found["mixed"]["path"][-1]["note"])
                self.assertEqual({name: found[name]["rule"] for name in found if name in ("mask", "double")},
                                 {name: "attention-mask-dtype" for name in found if name in ("mask", "double")})
                wrong = found["backward"]
                self.assertEqual(wrong["rule"], "operator-mixed-dtypes")
                forward = [step["line"] for step in wrong.get("path", []) if step["note"].endswith("was called here: this is its backward call")]
                if forward:
                    self.assertEqual(forward, [marked_line(PROGRAM, "backward")])
                else:
                    self.assertRegex(wrong["message"], "it is a backward call, and the line of its forward call is not known$")
                print(f"{version}: {said}, forward line {'known' if forward else 'not known'}", file=sys.stderr)

    def test_calls(self):
        for version, python in self.wheels():
            with self.subTest(version=version):
                said, found, report, why = self.run_wheel(python, "torch=calls")
                expected = {name for name, how in said.items() if how == "raises" and name != "backward"}
                if [int(word) for word in version.split(".")] < [2, 4]:  # whose optional operands are of c10
                    self.assertEqual("some masks" in why, expected & {"mask", "double"} != set(), why)
                    expected -= {"mask", "double"}
                self.assertEqual(set(found), expected, why)
                entered = int(re.search(r"entered (\d+) times \(torch=calls\)", why)[1])
                self.assertEqual((entered, self.checked(report)), (int(said["calls"]),) * 2)
                print(f"{version}: {why}", file=sys.stderr)

    def test_windows(self):
        """As after attach: calls, with origins for some of the time, the first call's among it."""
        for version, python in self.wheels():
            with self.subTest(version=version):
                done = self.preloaded(python, "-W", "ignore", PROGRAMS / PROGRAM, options="torch_ms=1000")
                self.assertEqual(done.returncode, 0, done.stderr)
                report = self.report("--options=symbolize=0", self.scratch / "journal")[1]
                [source] = [one for one in report["watched"]["sources"] if one["name"] == "torch"]
                self.assertIn("Origins are noted for 1000 ms of each second", source["why"])
                self.assertIn(marked_line(PROGRAM, "mixed"), [finding["location"]["line"] for finding in report["findings"] if finding.get("path")])
                for journal in self.journals():
                    journal.unlink()


if __name__ == "__main__":
    if not WHEELS:
        print("skipped: no releases of PyTorch; make test-long sets them up, or tests/unit/rules/pytorch/torch_wheels.sh BUILD")
        sys.exit(77)
    main()
