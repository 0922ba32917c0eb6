"""The CUPTI source on a GPU, judged from outside: `cases.py CASE BUILD`. Status 0: it holds, 1: it does not, 77: it
could not be tried, with the reason. PYTHON names an interpreter with PyTorch for CUDA (default: this one), OUT a folder
for what is recorded (default: BUILD/gpu).
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CASTS = "attention-implicit-promotion"


class Skip(Exception):
    """Why a case cannot be tried here."""


class Wrong(Exception):
    """What does not hold."""


def check(holds, what):
    if not holds:
        raise Wrong(what)
    print(f"  holds: {what}")


class Bench:
    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()
        self.command = self.build / "bin" / "dtype-san"
        self.python = os.environ.get("PYTHON", sys.executable)
        self.out = pathlib.Path(os.environ.get("OUT", self.build / "gpu"))
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="dtype-san-gpu-"))

    def require(self):
        if not self.command.is_file():
            raise Wrong(f"'{self.command}' is not there: give the folder that dtype-san was built in")
        if not pathlib.Path("/proc/driver/nvidia").exists():
            raise Skip("this machine has no NVIDIA driver (/proc/driver/nvidia)")
        asked = subprocess.run([self.python, "-c", "import torch; print(torch.__version__, torch.cuda.is_available())"],
                               capture_output=True, text=True, check=False)
        if asked.returncode != 0:
            raise Skip(f"'{self.python}' has no PyTorch: {asked.stderr.strip().splitlines()[-1]}")
        if not asked.stdout.strip().endswith("True"):
            raise Skip(f"PyTorch {asked.stdout.split()[0]} of '{self.python}' finds no GPU")
        print(f"  PyTorch {asked.stdout.split()[0]}, {gpu()}")

    def plain(self, *words):
        """The program without dtype-san."""
        done = subprocess.run([self.python, HERE / "program.py", *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Wrong(f"the program fails without dtype-san: {done.stderr[-2000:]}")
        return json.loads(done.stdout.splitlines()[-1])

    def watched(self, *words, options="", run=()):
        """The program under `dtype-san run`: what it printed, and the report."""
        journal = self.scratch / "journal"
        shutil.rmtree(journal, ignore_errors=True)
        report = self.scratch / "report.json"
        done = subprocess.run([self.command, "run", f"--format=json={report}", "--journal", journal, "--options",
                               f"cupti=on:{options}", *run, "--", self.python, HERE / "program.py", *words],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Wrong(f"status {done.returncode} under dtype-san: {done.stderr[-2000:]}")
        return json.loads(done.stdout.splitlines()[-1]), json.loads(report.read_text(encoding="utf-8"))

    def kernels(self):
        """The kernels that the last watched program launched."""
        names = ("time", "runs", "call", "kind", "backend", "library", "api", "confidence", "roles", "name")
        journals = sorted((self.scratch / "journal").glob("*.dtype-san"))
        done = subprocess.run([self.build / "bin" / "gpu_kernel_names", *journals], capture_output=True, text=True, check=True)
        return [dict(zip(names, line.split("\t"))) for line in done.stdout.splitlines()]


def gpu():
    asked = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True,
                           text=True, check=False)
    return asked.stdout.strip().splitlines()[0] if asked.returncode == 0 and asked.stdout else "an unknown GPU"


def cupti(report):
    [source] = [source for source in report["watched"]["sources"] if source["name"] == "cupti"]
    print(f"  cupti: {'on' if source['on'] else 'off'}, {source['why']}")
    return source


def rules(report):
    return [finding["rule"] for finding in report["findings"]]


def dtypes_of(kernel):
    return {role.split("=")[1] for role in kernel["roles"].split() if role.split("=")[0] in ("q", "k", "v")}


def sdpa(bench):
    """Each backend and dtype: what the names of its kernels say is what ran; the names go into the corpus."""
    calls, report = bench.watched("sdpa")
    check(cupti(report)["on"], "the source is on")
    kernels = bench.kernels()
    for call in calls:
        first = [one for one in kernels if call["start"] <= int(one["time"]) <= call["end"]]
        attention = [one for one in first if one["kind"] in ("attention", "attention_backward")]
        told = ", ".join(sorted({f"{one['backend']} {'/'.join(sorted(dtypes_of(one))) or '?'}" for one in attention})) or "none"
        print(f"  {call['backend']:9} {call['dtype']:8} {call['problem'][:60] or told}")
        if call["problem"] or call["backend"] == "math":
            continue
        check(attention, f"{call['backend']} in {call['dtype']} launched a kernel that is known as attention")
        for one in attention:
            check(one["backend"] == call["backend"], f"its backend is read as {call['backend']}")
            check(dtypes_of(one) <= {call["dtype"], "?"}, f"its dtype is read as {call['dtype']} or not at all")
    half = [call for call in calls if call["dtype"] == "float16"]
    full = [one for one in kernels if half[0]["start"] <= int(one["time"]) <= half[0]["end"] and "float32" in dtypes_of(one)]
    check(not full, "no kernel of the first half-precision call is read as float32")
    bench.out.mkdir(parents=True, exist_ok=True)
    corpus = bench.out / "kernel_names_recorded.tsv"
    rows = sorted({"\t".join(one[column] for column in ("kind", "backend", "library", "api", "confidence", "roles", "name"))
                   for one in kernels})
    corpus.write_text("\n".join(rows) + "\n", encoding="utf-8")
    print(f"  {len(rows)} names in {corpus}: look through them, then add them to tests/unit/sanitizer/kernel_names.tsv")


def casts(bench):
    done, report = bench.watched("casts", options="cast_time=1")
    check(cupti(report)["on"], "the source is on")
    found = [finding for finding in report["findings"] if finding["rule"] == CASTS]
    both = [finding for finding in found if "q and k are cast from float32 to bfloat16" in finding["message"]]
    check(both, "the casts of q and k before attention are found")
    print(f"  {both[0]['message']}")
    check(both[0]["count"] == done["calls"], f"in each of {done['calls']} calls")
    check("on the device" in both[0]["message"], "with the time that they took")
    check(all(finding["backtrace"] for finding in found), "and a backtrace")
    _, report = bench.watched("no-casts")
    wrong = [finding["message"] for finding in report["findings"] if finding["rule"] == CASTS and finding["count"] > 1]
    check(not wrong, f"casts whose result something else reads are not reported {wrong}")


def graphs(bench):
    done, report = bench.watched("graph", options="expect=cudnn")
    cupti(report)
    counts = [finding["count"] for finding in report["findings"] if finding["rule"] == "silent-attention-fallback"]
    check(done["runs"] in counts, f"{done['runs']} runs of the attention kernel are counted, captured once and replayed")


def profiler(bench):
    done, report = bench.watched("profiler-later")
    check(not cupti(report)["on"], "a profiler that comes later gets the place")
    check(done["kernels"] > 0 and done["again"] > 0, "and sees kernels")
    done, report = bench.watched("profiler-first")
    cupti(report)
    check(done["kernels"] > 0, "a profiler that comes first sees kernels")


def switch(bench):
    plain = bench.plain("speed")["plain"]
    done, report = bench.watched("switch")
    cupti(report)
    print(f"  launches a second: {plain:.0f} plain, {done['watched']:.0f} watched, {done['detached']:.0f} detached")
    names = " ".join(one["roles"] for one in bench.kernels() if one["kind"] == "attention")
    check("bfloat16" in names and "q=float16" not in names, "nothing is seen while watching is off")
    check(done["detached"] > 0.9 * plain, "a job that is detached runs at its own speed")


def cost(bench):
    """Times vary more than the aim from process to process, so on and off are compared inside of one."""
    plain = bench.plain("step", "2")
    done, report = bench.watched("step")
    check(cupti(report)["on"] or "gave its place back" in cupti(report)["why"], "the source was on in turn")
    print(f"  a training step: {done['on']:.3f} ms watched, {done['off']:.3f} ms in the same process with watching off "
          f"({(done['on'] / done['off'] - 1) * 100:+.2f} %, {done['steps']} steps each), {plain['off']:.3f} ms without dtype-san")
    check(done["on"] <= done["off"] * 1.01, "a step is at most 1 % slower")


def flash_ref(bench):
    library = bench.build / "kernels" / "libflash_ref.so"
    if not library.exists():
        raise Wrong(f"there is no '{library}': build the target flash_ref")
    done, report = bench.watched("flash-ref", str(library))
    source = cupti(report)
    if done["good"] != 0:
        raise Skip(f"this flash_ref gives status {done['good']} for tensors on the GPU: it was built without CUDA")
    check(done["error"] < 0.05, f"a good call agrees with PyTorch (largest difference {done['error']:.4f})")
    check(done["wide"] != 0, "a float32 q is refused")
    check("attention-mixed-dtypes" in rules(report) or "attention-unsupported-dtype" in rules(report), "and reported")
    check(source["on"], "the source is on")
    own = [one for one in bench.kernels() if one["library"] == "flash_ref" and one["kind"] == "attention"]
    check(own and all(one["call"] == "flash_ref_attention_fwd" for one in own), "its kernels are known, inside their call")
    check(all(dtypes_of(one) == {"bfloat16"} for one in own), "their names say bfloat16")
    check("dlpack-dtype-mismatch" not in rules(report), "no kernel is taken for one of another dtype")
    check(any("q" in [operand["role"] for operand in finding["operands"]] for finding in report["findings"]
              if finding["rule"] == CASTS), "the cast of q right before the call is found")


CASES = {"sdpa": sdpa, "casts": casts, "graphs": graphs, "profiler": profiler, "switch": switch, "cost": cost,
         "flash_ref": flash_ref}


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in CASES:
        print(f"usage: cases.py {'|'.join(CASES)} BUILD", file=sys.stderr)
        return 2
    bench = Bench(sys.argv[2])
    print(f"CUPTI, {sys.argv[1]}:")
    try:
        bench.require()
        CASES[sys.argv[1]](bench)
    except Skip as reason:
        print(f"  skipped: {reason}")
        return 77
    except Wrong as what:
        print(f"  FAILED: {what}")
        return 1
    finally:
        shutil.rmtree(bench.scratch, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
