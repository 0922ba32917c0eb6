"""The CUPTI source on a GPU, judged from outside: `cases.py CASE BUILD`. Status 0: it holds, 1: it does not, 77: it
could not be tried, with the reason. PYTHON names an interpreter with PyTorch for CUDA (default: this one), OUT a folder
for what is recorded (default: BUILD/gpu).
"""
import os
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from watched_job import Bench, Conversation, Skip, check, expect, keep_to, rules, run_case, source_of  # pylint: disable=wrong-import-position

PROGRAM = pathlib.Path(__file__).resolve().parent / "program.py"
CASTS = "attention-implicit-promotion"


class Launches(Bench):
    """PROGRAM without and with the source."""

    def plain(self, *words):
        return self.answer(self.run(PROGRAM, *words))

    def watched(self, *words, options=""):
        done, report = self.run_watched(PROGRAM, *words, options=f"cupti=on:torch=off:{options}")
        return self.answer(done), report


def cupti(report):
    return source_of(report, "cupti")


def dtypes_of(kernel):
    return {role.split("=")[1] for role in kernel["roles"].split() if role.split("=")[0] in ("q", "k", "v")}


def record_names(bench, kernels):
    """For tests/unit/sanitizer/kernel_names.tsv, to be looked through first."""
    bench.out.mkdir(parents=True, exist_ok=True)
    corpus = bench.out / "kernel_names_recorded.tsv"
    rows = sorted({"\t".join(one[column] for column in ("kind", "backend", "library", "api", "confidence", "roles", "name"))
                   for one in kernels})
    corpus.write_text("\n".join(rows) + "\n", encoding="utf-8")
    print(f"  {len(rows)} names in {corpus}")


def sdpa(bench):
    """Each backend and dtype: what the names of its kernels say is what ran. Of cuDNN the two half types have one name."""
    calls, report = bench.watched("sdpa")
    check(cupti(report)["on"], "the source is on")
    kernels = bench.kernels()
    record_names(bench, kernels)
    for call in calls:
        first = [one for one in kernels if call["start"] <= int(one["time"]) <= call["end"]]
        if call["backend"] == "cudnn" and call["dtype"] == "bfloat16":
            first = kernels
        attention = [one for one in first if one["kind"] in ("attention", "attention_backward") and
                     (first is not kernels or one["backend"] == "cudnn")]
        told = ", ".join(sorted({f"{one['backend']} {'/'.join(sorted(dtypes_of(one))) or '?'}" for one in attention})) or "none"
        print(f"  {call['backend']:9} {call['dtype']:8} {call['problem'][:60] or told}")
        if call["problem"] or call["backend"] == "math":
            continue
        expect(attention, f"{call['backend']} in {call['dtype']} launched a kernel that is known as attention")
        expect({one["backend"] for one in attention} <= {call["backend"]}, f"its backend is read as {call['backend']}")
        expect(set().union(*map(dtypes_of, attention)) <= {call["dtype"], "?"}, f"its dtype is read as {call['dtype']} or not at all")
    half = [call for call in calls if call["dtype"] == "float16"]
    full = [one["name"] for one in kernels
            if half[0]["start"] <= int(one["time"]) <= half[0]["end"] and "float32" in dtypes_of(one)]
    expect(not full, f"no kernel of the first half-precision call is read as float32 {full}")


def casts(bench):
    done, report = bench.watched("casts", options="cast_time=1")
    check(cupti(report)["on"], "the source is on")
    found = [finding for finding in report["findings"] if finding["rule"] == CASTS]
    for finding in report["findings"]:
        print(f"  {finding['rule']}: {finding['message']}")
    both = [finding for finding in found if "q and k are cast from float32 to bfloat16" in finding["message"]]
    check(both, "the casts of q and k before attention are found")
    print(f"  {both[0]['message']}")
    expect(both[0]["count"] == done["calls"], f"in each of {done['calls']} calls")
    expect("on the device" in both[0]["message"], "with the time that they took")
    expect(all(finding["backtrace"] for finding in found), "and a backtrace")
    _, report = bench.watched("no-casts")
    wrong = [finding["message"] for finding in report["findings"] if finding["rule"] == CASTS and finding["count"] > 1]
    expect(not wrong, f"casts whose result something else reads are not reported {wrong}")


def graphs(bench):
    done, report = bench.watched("graph", options="expect=cudnn")
    cupti(report)
    counts = [finding["count"] for finding in report["findings"] if finding["rule"] == "silent-attention-fallback"]
    check(done["runs"] in counts, f"{done['runs']} runs of the attention kernel are counted, captured once and replayed")


def profiler(bench):
    done, report = bench.watched("profiler-later")
    expect(not cupti(report)["on"], "a profiler that comes later gets the place")
    expect(done["kernels"] > 0 and done["again"] > 0, "and sees kernels")
    done, report = bench.watched("profiler-first")
    cupti(report)
    expect(done["kernels"] > 0, "a profiler that comes first sees kernels")


def switch(bench):
    plain = bench.plain("speed")["plain"]
    done, report = bench.watched("switch")
    cupti(report)
    print(f"  launches a second: {plain:.0f} plain, {done['watched']:.0f} watched, {done['detached']:.0f} detached")
    names = " ".join(one["roles"] for one in bench.kernels() if one["kind"] == "attention")
    expect("bfloat16" in names and "q=float16" not in names, "nothing is seen while watching is off")
    expect(done["detached"] > 0.9 * plain, "a job that is detached runs at its own speed")


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
    check(library.exists(), f"there is a '{library}' (the target flash_ref)")
    done, report = bench.watched("flash-ref", str(library))
    source = cupti(report)
    if done["good"] != 0:
        raise Skip(f"this flash_ref gives status {done['good']} for tensors on the GPU: it was built without CUDA")
    expect(done["error"] < 0.05, f"a good call agrees with PyTorch (largest difference {done['error']:.4f})")
    expect(done["wide"] != 0, "a float32 q is refused")
    expect("attention-mixed-dtypes" in rules(report) or "attention-unsupported-dtype" in rules(report), "and reported")
    check(source["on"], "the source is on")
    own = [one for one in bench.kernels() if one["library"] == "flash_ref" and one["kind"] == "attention"]
    expect(own and all(one["call"] == "flash_ref_attention_fwd" for one in own), "its kernels are known, inside their call")
    expect(all(dtypes_of(one) == {"bfloat16"} for one in own), "their names say bfloat16")
    expect("dlpack-dtype-mismatch" not in rules(report), "no kernel is taken for one of another dtype")
    expect(any("q" in [operand["role"] for operand in finding["operands"]] for finding in report["findings"]
              if finding["rule"] == CASTS), "the cast of q right before the call is found")


def launch(bench):
    """What a launch costs: without a client of CUPTI, with one that does nothing, and with dtype-san. A process for each, on the
    same two processors, which launch in turns; differences are of one turn."""
    empty, library = (bench.build / "lib" / name for name in ("libempty_callback.so", "libdtype_san.so"))
    check(empty.is_file(), f"there is '{empty}' (the target gpu_empty_callback)")
    changes = {"without": {}, "empty": {"CUDA_INJECTION64_PATH": str(empty)},
               "dtype-san": {"LD_PRELOAD": str(library), "CUDA_INJECTION64_PATH": str(library),
                             "DTYPE_SAN_OPTIONS": f"journal={bench.scratch}:print_summary=0:cupti=on:torch=off"}}
    keep_to(2)
    workers = {how: Conversation(bench.python, PROGRAM, "speed-in-turns", **change) for how, change in changes.items()}
    for worker in workers.values():
        worker.answer()
    spent = {how: [] for how in workers}
    for number in range(int(os.environ.get("ROUNDS", "40"))):
        for how in list(workers)[:: 1 if number % 2 == 0 else -1]:
            spent[how].append(workers[how].ask())
    for how, times in spent.items():
        low, middle, high = statistics.quantiles(times, n=4)
        print(f"  {how:10} {middle:7.0f} ns a launch ({low:.0f} to {high:.0f}), {min(times):.0f} at best")
    for worker in workers.values():
        worker.end()
    low, over, high = statistics.quantiles([own - beside for own, beside in zip(spent["dtype-san"], spent["empty"])], n=4)
    expect(over <= 300, f"at most 300 ns over an empty callback: {over:.0f} ns ({low:.0f} to {high:.0f})")


CASES = {"sdpa": sdpa, "casts": casts, "graphs": graphs, "profiler": profiler, "switch": switch, "cost": cost,
         "flash_ref": flash_ref, "launch": launch}


if __name__ == "__main__":
    sys.exit(run_case("CUPTI", CASES, Launches, sys.argv))
