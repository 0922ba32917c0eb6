#!/usr/bin/env python3
"""Runs the analyzer over other people's code that is believed right, and counts what it saw.

    silence.py --tool attention_calls --checkouts DIR --torch INCLUDE [--cuda DIR] [--cutlass DIR] --out DIR
               [--only NAME]... [--match REGEX] [--sample N] [--stubs DIR] [--jobs N] [--timeout SECONDS]

repositories.json says which repositories and commits, where below --checkouts they are expected, which sources count
and with which flags. Nothing is fetched. What was lowered of each source is kept in --out, so a run can be broken off
and taken up again; then all of a repository is linked and evaluated as one program, as dtype-lint does with a project.
--sample takes every Nth source of a repository, --together N analyses up to N sources of a folder as one translation
unit, which is much faster where they include the same. With --stubs, headers that are nowhere to be found are made
there, empty, so that the rest of a file still parses; what they would have declared is missing. --pch names a precompiled header of <torch/torch.h>, made with the same flags, which
saves most of the time.

Prints, for each repository: sources, how many had no error in them, how many were not analysed, headers with an error
(what stands around the error is lost), lines of its files that functions were analysed in, attention
calls reached, operands whose dtype was known, and definite findings, each of which is to be read.
"""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MISSING = re.compile(r"'([^']+)' file not found")
INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([\w./+-]+)[>"]', re.M)
SYSTEM = ["/usr/include", "/usr/include/x86_64-linux-gnu", "/usr/include/c++/*", "/usr/lib/llvm-*/lib/clang/*/include"]
MAX_STUBS = 40  # missing headers of one source


def arguments():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    for name in ("tool", "checkouts", "torch", "out"):
        parser.add_argument(f"--{name}", required=True, type=lambda path: pathlib.Path(path).absolute())
    parser.add_argument("--table", default=HERE / "repositories.json", type=pathlib.Path, help="instead of its own")
    for name in ("cuda", "cutlass", "python", "ffi", "protobuf", "stubs", "pch"):
        parser.add_argument(f"--{name}", type=lambda path: pathlib.Path(path).absolute())
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--together", type=int, default=1, help="sources of one folder that share a translation unit")
    parser.add_argument("--match", default="", help="only sources whose path holds this regular expression")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=int, default=300)
    parser.add_argument("--report-only", action="store_true", help="add up what --out holds")
    parser.add_argument("--lower-only", action="store_true", help="for a run in parts, the last of which links")
    parser.add_argument("--link-only", action="store_true", help="link and add up what --out holds")
    return parser.parse_args()


def repositories(args):
    table = json.loads(args.table.read_text())
    return [each for each in table["repositories"] if not args.only or each["folder"] in args.only], table["flags"]


def sources_of(repository, root):
    found = []
    for pattern in repository["sources"]:
        found += [path for path in sorted(root.glob(pattern)) if path.is_file()]
    left_out = repository.get("exclude", [])
    return [path for path in dict.fromkeys(found)
            if not any(fnmatch.fnmatch(str(path.relative_to(root)), each) for each in left_out)]


def flags_of(repository, common, source, root, args):
    """The flags for one source; a flag that names a folder which was not given is left out."""
    wanted = repository.get("first", []) + common["all"] + (common["cuda"] if source.suffix == ".cu" else common["host"])
    if source.suffix in (".h", ".hpp"):
        wanted += ["-x", "c++"]
    wanted += repository.get("flags", [])
    given = {name: str(value) for name, value in vars(args).items() if isinstance(value, pathlib.Path)}
    given["root"] = str(root)
    flags = []
    for flag in wanted:
        names = re.findall(r"\{(\w+)\}", flag)
        if all(name in given for name in names):
            flags.append(re.sub(r"\{(\w+)\}", lambda match: given[match.group(1)], flag))
    if args.pch and source.suffix != ".cu" and repository.get("pch", True):
        flags += ["-include-pch", str(args.pch)]
    if args.stubs:
        flags += ["-idirafter", str(args.stubs)]
    return flags


def make_stubs(args, root, flags):
    """Makes an empty header for every include of a repository that no folder on its path holds."""
    folders = [pathlib.Path(flag[2:]) for flag in flags if flag.startswith("-I")]
    folders += [pathlib.Path(flags[i + 1]) for i, flag in enumerate(flags) if flag == "-isystem"]
    folders += [path for pattern in SYSTEM for path in pathlib.Path("/").glob(pattern[1:])]
    known = {}
    for path in root.rglob("*"):
        if path.suffix not in (".h", ".hpp", ".cuh", ".cpp", ".cc", ".cu", ".inc") or not path.is_file():
            continue
        for name in INCLUDED.findall(path.read_text(errors="replace")):
            if name not in known:
                known[name] = any((folder / name).exists() for folder in folders)
            if not known[name] and not (path.parent / name).exists() and ".." not in name:
                (args.stubs / name).parent.mkdir(parents=True, exist_ok=True)
                if not (args.stubs / name).exists():
                    (args.stubs / name).touch()


def batches(sources, size):
    """Sources that share folder and suffix, at most `size` at a time."""
    groups = {}
    for source in sources:
        groups.setdefault((source.parent, source.suffix), []).append(source)
    return [group[at:at + size] for group in groups.values() for at in range(0, len(group), size)]


def analyse_together(args, root, sources, flags, overlay=()):
    """Several sources as one translation unit, which parses what they all include once."""
    if len(sources) == 1:
        report = analyse(args, root, sources[0], flags, overlay)
    else:
        unit = root / f"together{sources[0].suffix}"
        with tempfile.NamedTemporaryFile("w", suffix=sources[0].suffix) as file:
            file.write("".join(f'#include "{source}"\n' for source in sources))
            file.flush()
            report = analyse(args, root, unit, flags, ["--overlay", str(unit), file.name, *overlay])
    report["sources"] = [str(source) for source in sources]
    return report


def analyse(args, root, source, flags, overlay=()):
    """What attention_calls says of one source; missing headers are made when --stubs was given."""
    for _ in range(MAX_STUBS):
        command = [str(args.tool), *overlay, str(root), str(source), *flags]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=args.timeout)
        except subprocess.TimeoutExpired:
            return {"source": str(source), "failed": f"no answer after {args.timeout} seconds"}
        if done.returncode != 0:
            return {"source": str(source), "failed": f"exit status {done.returncode}: {done.stderr[-400:]}"}
        report = json.loads(done.stdout)
        missing = [match.group(1) for each in report["errors"] for match in MISSING.finditer(each)]
        fresh = [name for name in missing if args.stubs and not (args.stubs / name).exists()]
        if not fresh:
            break
        for name in fresh:
            (args.stubs / name).parent.mkdir(parents=True, exist_ok=True)
            (args.stubs / name).touch()
    return report


def run(args):
    chosen, common = repositories(args)
    work = []
    for repository in chosen:
        root = args.checkouts / repository["folder"]
        if not root.is_dir():
            print(f"{root} is missing: a checkout of {repository['name']} at {repository['commit']} is expected there")
            continue
        matching = [each for each in sources_of(repository, root) if re.search(args.match, str(each.relative_to(root)))]
        if args.stubs and matching:
            make_stubs(args, root, flags_of(repository, common, matching[0], root, args))
        for sources in batches(matching[::args.sample], args.together):
            kept = args.out / repository["folder"] / (str(sources[0].relative_to(root)).replace("/", "+") + ".json")
            if not kept.exists():
                work.append((root, sources, flags_of(repository, common, sources[0], root, args), kept))

    def one(item):
        root, sources, flags, kept = item
        kept.parent.mkdir(parents=True, exist_ok=True)
        report = analyse_together(args, root, sources, flags, ["--emit", str(kept.with_suffix(".flow"))])
        kept.write_text(json.dumps(report))
        if report.get("failed"):
            print(f"{sources[0].relative_to(root)}: {report['failed']}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(one, work))


def link(args, flows, files=()):
    """What is seen when these are one program; with `files`, of what runs functions of these."""
    only = [word for name in files for word in ("--of", name)]
    command = [str(args.tool), "--link", *only, *(str(each) for each in flows)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=8 * args.timeout)
    except subprocess.TimeoutExpired:
        return {"failed": f"linking: no answer after {8 * args.timeout} seconds"}
    if done.returncode != 0:
        return {"failed": f"linking: exit status {done.returncode}: {done.stderr[-400:]}"}
    return json.loads(done.stdout)


def linked(args, repository):
    return args.out / f"{repository['folder']}.linked.json"


def link_all(args):
    for repository in repositories(args)[0]:
        flows = sorted((args.out / repository["folder"]).glob("*.flow"))
        if not flows:
            continue
        report = link(args, flows)
        linked(args, repository).write_text(json.dumps(report))
        if report.get("failed"):
            print(f"{repository['folder']}: {report['failed']}", flush=True)


def with_errors(root, report):
    """The sources of a translation unit that have errors, and its other files that have some."""
    files = {root / re.match(r"(.*):\d+: ", each).group(1) for each in report["errors"]}
    sources = {pathlib.Path(source) for source in report["sources"]}
    return files & sources, files - sources


def lines_in(root, files, cache):
    for name in files:
        path = root / name
        if path not in cache and path.is_file():
            cache[path] = path.read_bytes().count(b"\n")
    return sum(cache.get(root / name, 0) for name in files)


def add_up(args):
    chosen, _ = repositories(args)
    totals = dict.fromkeys(("sources", "parsed", "failed", "headers", "lines", "calls", "operands", "known"), 0)
    findings, cache = {}, {}
    print(f"{'repository':24} sources parsed failed headers   lines  calls operands  known findings")
    for repository in chosen:
        root = args.checkouts / repository["folder"]
        row = dict.fromkeys(totals, 0)
        files, headers, calls, own = set(), set(), {}, {}
        for kept in sorted((args.out / repository["folder"]).glob("*.json")):
            report = json.loads(kept.read_text())
            row["sources"] += len(report["sources"])
            if report.get("failed") or report["crashed"]:
                row["failed"] += len(report["sources"])
                continue
            broken, broken_headers = with_errors(root, report)
            row["parsed"] += len(report["sources"]) - len(broken)
            headers.update(broken_headers)
            files.update(report["files"])
        whole = json.loads(linked(args, repository).read_text()) if linked(args, repository).exists() else {}
        row["failed"] += bool(whole.get("failed"))
        for call in whole.get("calls", []):
            calls[(call["file"], call["line"], call["column"], call["function"])] = call
        for finding in whole.get("findings", []):
            own[(finding["rule"], finding["file"], finding["line"])] = finding
        row["headers"] = len(headers)
        row["lines"] = lines_in(root, [name for name in files if not name.startswith("/")], cache)
        row["calls"] = len(calls)
        row["operands"] = sum(len(call["operands"]) for call in calls.values())
        row["known"] = sum(each["known"] for call in calls.values() for each in call["operands"].values())
        share = 100 * row["known"] / row["operands"] if row["operands"] else 0
        print(f"{repository['folder']:24} {row['sources']:7} {row['parsed']:6} {row['failed']:6} {row['headers']:7} "
              f"{row['lines']:7} "
              f"{row['calls']:6} {row['operands']:8} {share:5.0f}% {len(own):8}")
        for key in totals:
            totals[key] += row[key]
        findings.update({(repository["folder"], *key): value for key, value in own.items()})
    share = 100 * totals["known"] / totals["operands"] if totals["operands"] else 0
    print(f"{'all':24} {totals['sources']:7} {totals['parsed']:6} {totals['failed']:6} {totals['headers']:7} "
          f"{totals['lines']:7} "
          f"{totals['calls']:6} {totals['operands']:8} {share:5.0f}% {len(findings):8}")
    for (folder, rule, file, line), finding in sorted(findings.items()):
        print(f"{folder}/{file}:{line}: {finding['message']} [{rule}] {','.join(finding['precision'])}"
              f" -> {', '.join(finding['sinks'])}")
    return totals


def main():
    args = arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    if args.stubs:
        args.stubs.mkdir(parents=True, exist_ok=True)
    if not args.report_only:
        if not args.link_only:
            run(args)
        if not args.lower_only:
            link_all(args)
    add_up(args)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C.UTF-8")
    sys.exit(main())
