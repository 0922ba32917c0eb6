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
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from watched_job import Bench, Conversation, Skip, check, expect, keep_to, run_case, source_of  # pylint: disable=wrong-import-position

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

    def talk(self, *words, **changes):
        return Conversation(self.python, *words, **changes, DEVICE=self.device)

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


def backends(jobs):
    """Records of each backend, the calls that are checked of them, and calls that name their backend."""
    if jobs.is_dry:
        raise Skip("a CPU has one backend")
    records = jobs.answer(jobs.run(HERE / "program.py", "backend-records", DEVICE=jobs.device))
    for backend, names in records.items():
        print(f"    {backend}: {' '.join(names)}")
        expect(backend == "math" or any(backend in name for name in names), f"{backend}: its records name it")
    counts = {}
    for options in ("torch=contracts", "torch=origins", "torch=calls"):
        _, report = jobs.own("backends", options=options)
        source_of(report, "torch")
        counts[options] = {api: count for api, count in report["watched"]["calls"].items() if count}
        print(f"    {options}: {counts[options]} {told(report)}")
        expect(counts[options].get("scaled_dot_product_attention", 0) == len(records), f"{options}: each call is checked once")
        if options != "torch=calls":
            mark = marked(HERE / "program.py", "backends" if options == "torch=contracts" else "random")
            apis = sorted(finding["api"] for finding in wrongs(report))
            expect(apis == ["_scaled_dot_product_efficient_attention", "_scaled_dot_product_flash_attention"] and
                   all(opening(finding) == mark for finding in wrongs(report)), f"{options}: those that name their backend {apis}")
    expect(counts["torch=contracts"] == counts["torch=origins"], "the same calls with and without origins")


def allocators(jobs):
    """Memory that libc10_cuda does not announce has no origin, never a wrong one."""
    if jobs.is_dry:
        raise Skip("a CPU has one allocator")
    for allocator in ("expandable_segments:True", "backend:cudaMallocAsync"):
        for name in ("promoted", "recycled", "in_a_loop"):
            _, report = jobs.moved("torch_origins.py", name, PYTORCH_CUDA_ALLOC_CONF=allocator, PYTORCH_ALLOC_CONF=allocator)
            found = wrongs(report)
            what = f"{allocator}, {name}"
            expect([finding["rule"] for finding in found] == [MIXED], f"{what}: found {told(report)}")
            place = marked(PROGRAMS / "torch_origins.py", name)
            if allocator.startswith("backend"):
                expect(all(not finding.get("path") or opening(finding) == place for finding in found), f"{what}: no wrong origin")
                print(f"    paths {[len(finding.get('path', [])) for finding in found]}, notes {notes(report)}")
            else:
                expect([opening(finding) for finding in found] == [place], f"{what}: opens at {place} {told(report)}")


def need(jobs, library):
    """Says which release of a library there is, or skips. Gives no changes of the environment."""
    asked = subprocess.run([jobs.python, "-c", f"import {library}; print({library}.__version__)"], capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        raise Skip(f"'{jobs.python}' has no {library}: {asked.stderr.strip().splitlines()[-1]}")
    print(f"    {library} {asked.stdout.strip()}")
    return {}


def flash_attn(jobs):
    """Calls of the real library; a dry run takes what stands in for it."""
    changes = {"PYTHONPATH": str(PROGRAMS / "stand_in")} if jobs.is_dry else need(jobs, "flash_attn")
    _, report = jobs.own("flash_attn", **changes)
    one_finding(report, MIXED, marked(HERE / "program.py", "flash_attn"), "q that a table widened")
    expect(report["watched"]["calls"].get("flash_attn_func") == 2, "each call is checked once")
    expect(jobs.is_dry == any("is stood in for" in one["message"] for one in report["findings"]), "it is said to stand in, or ran itself")


def xformers(jobs):
    """Calls of the real library."""
    if jobs.is_dry:
        raise Skip("nothing stands in for xformers")
    printed, report = jobs.own("xformers", **need(jobs, "xformers"))
    print(f"    {printed.strip()}, {report['watched']['calls']}")
    one_finding(report, MIXED, marked(HERE / "program.py", "xformers"), "its Function is called, and raises in Python")
    expect("dtype" in json.loads(printed)["raised"] and checked(report) >= 2, "right calls are no finding, a mixed one is refused")


def joined(jobs):
    """A job on the GPU is joined, left and joined again."""
    plain = jobs.talk(HERE / "program.py", "joined")
    expected = [plain.answer(), *(plain.ask() for _ in range(4))]
    check(plain.end() == 0, "the job alone ends well")
    for mode in ("origins", "calls"):
        folder = jobs.scratch / f"joined-{mode}"
        job = jobs.talk(HERE / "program.py", "joined")

        def tool(*words):
            done = subprocess.run([jobs.command, *words], capture_output=True, text=True, check=False)
            expect(done.returncode == 0, f"{words[0]}: {done.stderr.strip()[:300]}")

        def attach():
            tool("attach", str(job.process.pid), "--library", str(jobs.build / "lib" / "libdtype_san.so"), "--options",
                 f"journal={folder}:torch={mode}")

        said = [job.answer(), job.ask()]
        attach()
        said.append(job.ask())
        tool("detach", str(job.process.pid))
        said.append(job.ask())
        attach()
        said.append(job.ask())
        expect(job.end() == 0 and said == expected, f"{mode}: says the same as alone")
        report_file = folder / "report.json"
        subprocess.run([jobs.command, "report", f"--format=json={report_file}", folder], capture_output=True, check=False)
        report = json.loads(report_file.read_text(encoding="utf-8"))
        source_of(report, "torch")
        found = sorted((opening(finding)[1], finding["count"], len(finding.get("path", []))) for finding in wrongs(report))
        print(f"    {mode}: {found}, {report['watched']['calls']}, {notes(report)}")
        lines = [marked(HERE / "program.py", name)[1] for name in ("attend", "joined_new")]
        expect(checked(report) == 6, f"{mode}: the calls of two rounds are checked, {checked(report)}")
        if mode == "origins":
            expect([(line, count) for line, count, _ in found] == [(lines[0], 2), (lines[1], 2)],
                   f"what was made in the round opens there, what is older at its call: {lines}")
            expect(found and found[0][2] == 0, "what is older has no origin")


def compiled(jobs):
    """Inductor's kernels for the GPU."""
    printed, report = jobs.moved("torch_ways.py", "compile-inductor")
    silent(report, printed.strip())


MODES = {"without": None, "empty": None, "loaded": "torch=off:cupti=off", "calls": "torch=calls:cupti=off",
         "contracts": "torch=contracts:cupti=off", "origins": "torch=origins:cupti=off", "CUPTI": "torch=off:cupti=on",
         "both": "torch=origins:cupti=on"}


def start_cost(jobs, mode):
    library, words = jobs.build / "lib" / "libdtype_san.so", [HERE / "program.py", "cost"]
    if mode == "empty":
        return jobs.talk(*words, jobs.build / "lib" / "libempty_records.so")
    if MODES[mode] is None:
        return jobs.talk(*words)
    return jobs.talk(*words, LD_PRELOAD=str(library), CUDA_INJECTION64_PATH=str(library),
                        DTYPE_SAN_OPTIONS=f"journal={jobs.scratch}:print_summary=0:{MODES[mode]}")


def tell_cost(size, how, times, records):
    """Of one of the three times: its median, the ratio to that without in the same turn and, over the empty callback, ns a record;
    with quartiles."""
    for mode, own in times.items():
        low, middle, high = statistics.quantiles([one / beside for one, beside in zip(own, times["without"])], n=4)
        line = f"    {size:10} {how:9} {mode:10} {statistics.median(own):8.3f} ms, ratio {middle:.3f} ({low:.3f} to {high:.3f})"
        if "empty" in times and mode in ("contracts", "origins"):
            low, middle, high = statistics.quantiles([(one - beside) * 1e6 / records for one, beside in zip(own, times["empty"])], n=4)
            line += f", {middle:.0f} ns a record over an empty callback ({low:.0f} to {high:.0f})"
        print(line, flush=True)


def cost(jobs):
    """A step in each mode: one process for each, on the same two processors, which make steps in turns."""
    rounds = int(os.environ.get("ROUNDS", "20"))
    is_there = (jobs.build / "lib" / "libempty_records.so").is_file()
    keep_to(2)
    workers = {mode: start_cost(jobs, mode) for mode in MODES if is_there or mode != "empty"}
    counter = start_cost(jobs, "without")  # the profiler makes launches slower in a process that has used it
    for worker in (counter, *workers.values()):
        worker.answer()
    every = {}
    for size, seconds in {"host-bound": "0.3", "GPU-bound": "0.15"}.items():
        records = counter.ask(f"{size} records")
        for worker in workers.values():
            worker.ask(f"{size} 0.5")
        found = every[size] = {mode: [] for mode in workers}
        for number in range(rounds):
            for mode in list(workers)[:: 1 if number % 2 == 0 else -1]:
                found[mode].append(workers[mode].ask(f"{size} {os.environ.get('SECONDS_EACH', seconds)}"))
        print(f"    {size}: {records} records a step, {rounds} rounds")
        for place, how in enumerate(("median", "least", "processor")):
            tell_cost(size, how, {mode: [one[place] for one in own] for mode, own in found.items()}, records)
    for mode, worker in {"counter": counter, **workers}.items():
        expect(worker.end() == 0, f"{mode}: ends well")
    if jobs.out.is_dir():
        (jobs.out / "torch_cost.json").write_text(json.dumps(every), encoding="utf-8")


CASES = {"origins": origins, "by_hand": by_hand, "right_models": right_models, "ways": ways, "x_transformers": x_transformers,
         "var": var, "fallback": fallback, "graph": graph, "streams": streams, "trained": trained,
         "backends": backends, "allocators": allocators, "flash_attn": flash_attn, "xformers": xformers, "joined": joined, "compiled": compiled, "cost": cost}


if __name__ == "__main__":
    sys.exit(run_case("PyTorch", CASES, Jobs, sys.argv))
