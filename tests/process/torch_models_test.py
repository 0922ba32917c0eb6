"""Model classes of published packages under dtype-san, each right in four precisions and broken at one line: no finding on
right code, attention calls that were checked, and of the broken class a finding that opens with that line, with an origin for each
operand that it blames. A class counts with all of these; those that write attention by hand have no call that a contract speaks of, and do not count.

Without more, the classes that make test has: PyTorch's own and x-transformers'. DTYPE_GUARD_MODELS names folders for PYTHONPATH
with transformers, diffusers, timm and others (tests/README.md); their classes then take some ten minutes."""
import os
import pathlib
import subprocess
import sys

from support import BUILT, Case, environment, main, marked_line, preloadable
from torch_support import PYTHON, skip_without_torch

PROGRAM = "torch_models.py"
PROGRAMS = pathlib.Path(BUILT["source"]) / "programs"
JOBS = pathlib.Path(BUILT["torch_jobs"])
FOLDERS = os.environ.get("DTYPE_GUARD_MODELS", "")
RIGHT = os.environ.get("DTYPE_GUARD_MODELS_HOW", "float32 bfloat16 autocast training generation").split()
# Those that count with x-transformers 1.30.2, whose rotary classes want wider heads than the table gives them.
CLASSES = [name for name in os.environ.get("DTYPE_GUARD_MODELS_CLASSES", "").split(",") if name]
FEW = ["torch TransformerEncoder", "torch Transformer", "x-transformers encoder", "x-transformers alibi", "x-transformers qk norm",
       "x-transformers swiglu"]


class Models(Case):
    def run_models(self, ways):
        """For each class and precision what its process said, and the report of that process, as they come."""
        command = [PYTHON, PROGRAMS / PROGRAM, ",".join(ways), *(CLASSES if FOLDERS else FEW)]
        settings = f"journal={self.scratch / 'journal'}:torch=origins"
        changes = {"LD_PRELOAD": preloadable(BUILT["library"]), "DTYPE_SAN_OPTIONS": settings, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1",
                   "PYTHONPATH": FOLDERS or str(JOBS / "x-transformers-1.30.2")}
        with open(self.scratch / "errors", "w+", encoding="utf-8") as errors, subprocess.Popen(
                list(map(str, command)), stdout=subprocess.PIPE, stderr=errors, text=True, env=environment(**changes)) as job:
            self.addCleanup(job.kill)
            for line in job.stdout:
                fields = line.rstrip("\n").split("\t")
                if len(fields) != 4:  # of a package's own
                    continue
                pid, name, how, said = fields
                if pid == "0":
                    print(line, end="", file=sys.stderr)
                else:
                    yield name, how, said, self.report_of(int(pid))
            self.assertEqual(job.wait(), 0, (self.scratch / "errors").read_text(encoding="utf-8"))

    def report_of(self, pid):
        """A process has said what it did before it ends its journal. One that called nothing that is watched, and broke nothing, has none."""
        self.until(lambda: not pathlib.Path(f"/proc/{pid}").exists())
        for journal in self.journals():
            if f"{pid}" in journal.name.split("."):
                return self.report(journal)[1]
        return {"watched": {"calls": {}}, "findings": []}

    def test_models(self):
        checked, silent, placed = {}, {}, {}
        for name, how, said, report in self.run_models([*RIGHT, "broken"]):
            calls = sum(count for api, count in report["watched"]["calls"].items() if not api.startswith("flash_ref"))
            openings = {(pathlib.Path(finding["location"]["file"]).name, finding["location"]["line"]) for finding in report["findings"]}
            blamed = [operand for finding in report["findings"] for operand in finding["operands"]
                      if operand["role"] in {sink["role"] for sink in finding["sinks"]}]
            origins = sum(operand["origin"] is not None for operand in blamed)
            print(f"{name}\t{how}\t{said}\t{calls} calls\t{origins} of {len(blamed)} origins\t{sorted(openings)}\t"
                  f"{'; '.join(finding['message'] for finding in report['findings'])}", file=sys.stderr)
            if how == "broken":
                placed[name] = openings == {(PROGRAM, marked_line(PROGRAM, "broken"))} and origins == len(blamed)
                continue
            checked[name] = max(checked.get(name, 0), calls)
            # A class that does not run in a precision without dtype-san either may be reported for what it raises.
            silent[name] = silent.get(name, True) and (said != "ok" or not openings)
        self.assertEqual([name for name, is_silent in silent.items() if not is_silent], [])
        counted = [name for name in silent if placed.get(name) and checked[name] > 0]
        print(f"{len(counted)} of {len(silent)} classes; not: {sorted(set(silent) - set(counted))}", file=sys.stderr)
        self.assertGreaterEqual(len(counted), 60 if FOLDERS and not CLASSES else len(silent) - sum(name.endswith("by hand") for name in silent))


if __name__ == "__main__":
    skip_without_torch()
    if not FOLDERS and not (JOBS / "x-transformers-1.30.2").is_dir():
        print("skipped: no x-transformers 1.30.2; make test sets it up, or tests/unit/rules/pytorch/torch_jobs.sh BUILD")
        sys.exit(77)
    main()
