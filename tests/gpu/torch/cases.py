"""The PyTorch source on a GPU, judged from outside: `cases.py CASE BUILD`; see ../watched_job.py. JOBS names a folder that
tests/unit/rules/pytorch/torch_jobs.sh has made (default: BUILD/.torch-jobs). Each job runs without and with dtype-san, and
what it prints has to be the same to the last bit.
"""
import functools
import json
import os
import pathlib
import re
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from watched_job import Bench, Skip, check, expect, run_case, source_of  # pylint: disable=wrong-import-position

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE.parents[1] / "process" / "programs"
MIXED, IMPLIED = "attention-mixed-dtypes", "attention-implicit-promotion"


class Jobs(Bench):
    device = property(lambda self: "cpu" if self.is_dry else "cuda")

    def both(self, *words, options="torch=origins", **changes):
        """What a job prints, the same without and with dtype-san, and the report."""
        changes["DEVICE"] = self.device
        plain, (done, report) = self.together([lambda: self.run(*words, **changes),
                                               lambda: self.run_watched(*words, options=options, **changes)])
        is_same = plain.stdout == done.stdout
        expect(is_same, f"{words[-1]}: prints the same bits without and with" +
               ("" if is_same else f": {plain.stdout[-400:]!r}, {done.stdout[-400:]!r}"))
        return done.stdout, report

    def own(self, *words, **more):
        return self.both(HERE / "program.py", *words, **more)

    def moved(self, program, *words, **more):
        """A program of tests/process with its tensors on the device."""
        return self.both(HERE / "on_cuda.py", PROGRAMS / program, *words, **more)

    def moved_all(self, program, names):
        """The reports of a program with each of these words."""
        def run(name):
            return self.run_watched(HERE / "on_cuda.py", PROGRAMS / program, name, options="torch=origins", DEVICE=self.device)
        return self.together([functools.partial(run, name) for name in names])


def marked(program, name):
    for number, line in enumerate(program.read_text(encoding="utf-8").splitlines(), 1):
        if re.search(rf"# call: {name}$", line):
            return program.name, number
    raise AssertionError(f"{program} has no line marked {name}")


def opening(finding):
    return pathlib.Path(finding["location"]["file"]).name, finding["location"]["line"]


def checked(report):
    return sum(count for api, count in report["watched"]["calls"].items() if not api.startswith("flash_ref"))


def notes(report):
    return [one["detail"] for one in report["not_analysed"] if one["reason"] == "note"]


def wrongs(report):
    """Without CUPTI's notes, that attention ran in float32 or that a written cast came right before it: a model may be meant
    so, and `expect=` makes errors of the first."""
    return [finding for finding in report["findings"] if finding["level"] != "note"]


def told(report):
    return [(finding["rule"], finding["api"], *opening(finding), finding["message"][:120]) for finding in wrongs(report)]


def one_finding(report, rule, place, what):
    """The one finding, which opens at a line."""
    found = [(finding["rule"], opening(finding)) for finding in wrongs(report)]
    expect(found == [(rule, place)], f"{what}: {rule}, opening at {place[0]}:{place[1]}" +
           ("" if found == [(rule, place)] else f"; {told(report)}"))


def silent(report, what, least=1):
    expect(wrongs(report) == [] and checked(report) >= least,
           f"{what}: no finding, {checked(report)} calls checked {told(report) or ''}")


def origins(jobs):
    """The ways in which q came to be float32, as on the CPU."""
    program = PROGRAMS / "torch_origins.py"
    names = ("promoted", "cast", "made", "through_views_and_in_place", "number_of_no_dimension", "stacked", "recycled",
             "on_a_thread", "without_gradients", "in_a_loop")
    for name, (_, report) in zip(names, jobs.moved_all(program.name, names)):
        one_finding(report, MIXED, marked(program, name), name)
        devices = {operand["device"] for finding in report["findings"] for operand in finding["operands"]}
        expect(jobs.is_dry or devices == {"cuda:0"}, f"{name}: of operands on {devices}")


def by_hand(jobs):
    program = PROGRAMS / "torch_by_hand.py"
    wrong = {"wide_scores": IMPLIED, "wide_values": IMPLIED, "by_einsum": IMPLIED, "fused": IMPLIED, "var_attention": MIXED}
    for (name, rule), (_, report) in zip(wrong.items(), jobs.moved_all(program.name, wrong)):
        one_finding(report, rule, marked(program, name), name)
    right = ("right_eager", "right_wide_on_purpose", "right_float32", "right_autocast", "right_router")
    for name, (_, report) in zip(right, jobs.moved_all(program.name, right)):
        expect(wrongs(report) == [], f"{name}: no finding {told(report) or ''}")


def right_models(jobs):
    printed, report = jobs.moved("torch_right_models.py")
    silent(report, f"{len(printed.splitlines())} models", 40)
    source = source_of(report, "torch")
    expect(source["on"], "the source is on")


def ways(jobs):
    """Ways to run a training job."""
    names = "plain,autocast,bfloat16,checkpoint,reentrant,profiler,cache,compile-eager,compile-aot_eager"
    printed, report = jobs.moved("torch_ways.py", names)
    silent(report, f"{len(printed.splitlines())} ways", 6 * 8)


def x_transformers(jobs):
    folder = pathlib.Path(os.environ.get("JOBS", jobs.build / ".torch-jobs"))
    if not folder.is_dir():
        raise Skip(f"there is no '{folder}': tests/unit/rules/pytorch/torch_jobs.sh BUILD makes it")
    places = {"params": 480, "half_params": 480, "xpos": 457}
    tried = [(release, how) for release in ("1.30.1", "1.30.2") for how in ("params", "half_params", "xpos", "full", "autocast")]

    def run(release, how):
        return jobs.moved("torch_xt_rotary.py", how, PYTHONPATH=str(folder / f"x-transformers-{release}"), PYTHONDONTWRITEBYTECODE="1")

    for (release, how), (printed, report) in zip(tried, jobs.together([functools.partial(run, *one) for one in tried])):
        what = f"x-transformers {release}, {how}"
        if release == "1.30.1" and how in places:
            expect("RuntimeError: Expected query, key, and value to have the same dtype" in printed, f"{what}: raises {printed!r}")
            one_finding(report, MIXED, ("x_transformers.py", places[how]), what)
        else:
            expect("ok, logits" in printed, f"{what}: runs {printed!r}")
            silent(report, what, 2)
        for note in notes(report):
            print(f"    note: {note}")


def var(jobs):
    """VAR's attention under autocast: F.normalize gives float32 on CUDA, the parameter widens q everywhere."""
    before = (HERE.parents[2] / "examples/var/before.py").read_text(encoding="utf-8").splitlines()
    line = 1 + next(i for i, text in enumerate(before) if "F.normalize(q" in text)
    printed, report = jobs.own("var", "before")
    print(f"    {told(report)}")
    found = [finding for finding in report["findings"] if finding["rule"] == MIXED]
    expect(len(found) == 1 and found[0]["api"] == "flash_attn_func", "before: q, k and v of flash_attn_func differ")
    for finding in found:
        roles = {operand["role"]: operand["dtypes"][0] for operand in finding["operands"]}
        wide = {"q": "float32", "k": "bfloat16" if jobs.is_dry else "float32", "v": "bfloat16"}
        expect(roles == wide, f"before: {roles}")
        places = {(pathlib.Path(step["file"]).name, step["line"]) for step in finding["path"]}
        expect(("before.py", line) in places, f"before: the way leads over before.py:{line}; {sorted(places)}")
    _, report = jobs.own("var", "after")
    silent(report, "after")
    printed, report = jobs.own("var-fused")
    silent(report, f"fused, which autocast recasts {printed.strip()}")
    recast = [note for note in notes(report) if "under autocast scaled_dot_product_attention casts" in note]
    expect(len(recast) == 1 and recast[0].endswith(":{}:{}".format(*marked(HERE / "program.py", "var_fused")).lstrip(":")),
           f"fused: a note of its cost {notes(report)}")
    _, report = jobs.own("var-fused", "cast")
    silent(report, "fused, cast back")
    expect(not [note for note in notes(report) if "under autocast" in note], f"fused, cast back: no note {notes(report)}")


def fallback(jobs):
    """A model that was left in float32 takes a slower backend, which CUPTI sees by the kernel's name."""
    if jobs.is_dry:
        raise Skip("a CPU has no kernel names")
    _, report = jobs.own("fallback", "float32", options="cupti=on:expect=flash:torch=origins")
    found = [finding for finding in report["findings"] if finding["rule"] == "silent-attention-fallback"]
    expect(found and found[0]["level"] == "error" and "float32" in found[0]["message"], "expected flash: an error")
    expect(found and any("program.py" in frame.get("file", "") for frame in found[0]["backtrace"]), "with the program's line")
    _, report = jobs.own("fallback", "float32", options="cupti=on:torch=origins")
    expect([finding["level"] for finding in report["findings"]] == ["note"] and not wrongs(report),
           f"nothing expected: a note {told(report)}")
    for dtype in ("float16", "bfloat16"):
        _, report = jobs.own("fallback", dtype, options="cupti=on:torch=origins")
        silent(report, f"{dtype}, nothing expected")


def graph(jobs):
    if jobs.is_dry:
        raise Skip("a CPU has no graphs")
    _, report = jobs.own("graph", options="cupti=on:torch=origins")
    one_finding(report, MIXED, marked(HERE / "program.py", "graph"), "a captured call")
    expect([finding["count"] for finding in wrongs(report)] == [1], "counted as it was captured")


def streams(jobs):
    if jobs.is_dry:
        raise Skip("a CPU has no streams")
    for name in ("streams", "stages"):
        printed, report = jobs.own(name)
        print(f"    {printed.strip()}")
        places = sorted(map(opening, report["findings"]))
        mark = marked(HERE / "program.py", name)
        if name == "streams":
            expect(places == [mark], f"{name}: memory that went round opens with its own line {told(report)}")
        else:
            expect(mark in places, f"{name}: what was cast on the device opens there {told(report)}")
            expect(len(report["findings"]) == 2, f"{name}: so does what was copied from the host, where it came from {told(report)}")


def trained(jobs):
    """The same bits under each mode."""
    first = jobs.answer(jobs.run(HERE / "program.py", "trained", DEVICE=jobs.device))
    again = jobs.answer(jobs.run(HERE / "program.py", "trained", DEVICE=jobs.device))
    check(first == again, f"two runs without dtype-san have the same bits {first}")
    for options in ("torch=origins", "torch=contracts", "torch=origins:cupti=on"):
        _, report = jobs.own("trained", options=options)
        silent(report, options, 15)


MODES = {"without": None, "loaded": "torch=off:cupti=off", "contracts": "torch=contracts:cupti=off",
         "origins": "torch=origins:cupti=off", "CUPTI": "torch=off:cupti=on", "both": "torch=origins:cupti=on"}


def cost(jobs):
    """A step in each mode, processes in turn: median and lower quartile in ms, steps; then the ratio to those without, and
    its spread."""
    rounds, found = int(os.environ.get("ROUNDS", "3")), {mode: [] for mode in MODES}
    library = jobs.build / "lib" / "libdtype_san.so"
    for _ in range(rounds):
        for mode, options in MODES.items():
            preload = {} if options is None else {"LD_PRELOAD": str(library), "DTYPE_SAN_OPTIONS": f"journal={jobs.scratch}:{options}",
                                                  "CUDA_INJECTION64_PATH": str(library)}
            done = jobs.run(HERE / "program.py", "cost", os.environ.get("SECONDS_EACH", "1.5"), DEVICE=jobs.device, **preload)
            found[mode].append(jobs.answer(done))
            print(f"    {mode:10} {json.dumps(found[mode][-1])}", flush=True)  # also of a case that is ended before its table
    print(f"    {'step':12} {'mode':10} {'ms':>9} {'ratio':>7}  spread of {rounds}")
    for size in found["without"][0]:
        for mode, runs in found.items():
            ratios = sorted(run[size][0] / beside[size][0] for run, beside in zip(runs, found["without"]))
            print(f"    {size:12} {mode:10} {statistics.median(run[size][0] for run in runs):9.3f} "
                  f"{statistics.median(ratios):7.3f}  {ratios[0]:.3f} to {ratios[-1]:.3f}, {min(run[size][2] for run in runs)} steps")
    if jobs.out.is_dir():
        (jobs.out / "torch_cost.json").write_text(json.dumps(found), encoding="utf-8")


CASES = {"origins": origins, "by_hand": by_hand, "right_models": right_models, "ways": ways, "x_transformers": x_transformers,
         "var": var, "fallback": fallback, "graph": graph, "streams": streams, "trained": trained, "cost": cost}


if __name__ == "__main__":
    sys.exit(run_case("PyTorch", CASES, Jobs, sys.argv))
