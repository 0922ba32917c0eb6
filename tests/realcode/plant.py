#!/usr/bin/env python3
"""Plants promotions in other people's code and counts how many of them the analyzer finds.

    plant.py --tool attention_calls --checkouts DIR --torch INCLUDE ... --out DIR [--count 50] [--seed 1]

Takes the attention calls that a run of silence.py with the same --out reached, draws --count of them with --seed, and
changes one input of each, in memory only:

    parameter   x becomes x times a float32 tensor with a dimension, as a float32 parameter would be
    cast-back   x becomes its float32 arithmetic, whose result nobody takes back to the dtype of x

Found means a definite finding that ends at that call or stands at that line, and that was not there before.
"""
import concurrent.futures
import json
import pathlib
import random
import re
import sys
import tempfile

import silence

KINDS = {
    "parameter": "({0}) * at::ones({{8}}, at::kFloat)",
    "cast-back": "({0}).to(at::kFloat).mul(0.125)",
}
# Where the operands of a product stand when it is written as a method: `a.matmul(b)`.
INPUTS = ("q", "k", "v", "left", "right", "x")


def split_arguments(text, start):
    """The arguments of the call whose parenthesis opens at `start`, as (begin, end) pairs."""
    depth, begin, found, quote = 0, start + 1, [], None
    for at in range(start, len(text)):
        char = text[at]
        if quote:
            quote = None if char == quote and text[at - 1] != "\\" else quote
        elif char in "\"'":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0:
                found.append((begin, at))
                return [(a, b) for a, b in found if text[a:b].strip()]
        elif char == "," and depth == 1:
            found.append((begin, at))
            begin = at + 1
    return []


def without_comments(text):
    """Comments become blanks of the same length."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(r"//[^\n]*|/\*.*?\*/", blank, text, flags=re.S)


def places(text, call):
    """Where the inputs of a call stand in its file: (begin, end) of each expression that can be changed."""
    lines = text.split("\n")
    offset = sum(len(line) + 1 for line in lines[:call["line"] - 1])
    offset += len(lines[call["line"] - 1].encode()[:call["column"] - 1].decode(errors="replace"))
    name = re.compile(r"(matmul|bmm|mm|einsum|baddbmm)\s*\(" if "left" in call["operands"] else r"[\w:<>]+\s*\(")
    match = name.search(text, offset)
    if not match or match.start() > offset + 4000:
        return []
    found = split_arguments(text, match.end() - 1)
    if call["api"] == "einsum":
        braces = [(a, b) for a, b in found if text[a:b].strip().startswith("{")]
        return split_arguments(text, text.index("{", braces[0][0])) if braces else []
    if "left" in call["operands"]:
        return found[:2]
    return found[:3]


def plants(root, call, kind):
    """Every change of that kind at this call: ((begin, end, new text), what is changed)."""
    original = (root / call["file"]).read_text(errors="replace")
    found = []
    for begin, end in places(without_comments(original), call):
        text = original[begin:end]
        if not re.fullmatch(r"\s*(?:/\*.*?\*/\s*)?[\w.\->:()\[\], /*=]+\s*", text) or "nullopt" in text:
            continue
        inner = re.sub(r"/\*.*?\*/", "", text).strip()
        found.append(((begin, end, KINDS[kind].format(inner)), inner))
    return found


def reached(args):
    """Every reached call once, and by folder what is found there already."""
    calls, before = {}, {}
    for repository in silence.repositories(args)[0]:
        whole = silence.linked(args, repository)
        report = json.loads(whole.read_text()) if whole.exists() else {}
        before[repository["folder"]] = {place(each) for each in report.get("findings", [])}
        for call in report.get("calls", []):
            if not call["file"].startswith("/") and any(role in INPUTS for role in call["operands"]):
                calls[(repository["folder"], call["file"], call["line"], call["column"])] = call
    return calls, before


def place(finding):
    return finding["rule"], finding["file"], finding["line"]


def drawn(args, calls, count, draw):
    """`count` changes, no two alike: (key of the call, kind, (begin, end, new text), what was changed). Each call and
    kind has its turn before one comes again."""
    left = {(key, kind): plants(args.checkouts / key[0], calls[key], kind) for key in sorted(calls) for kind in KINDS}
    changes = []
    while len(changes) < count and any(left.values()):
        turns = [turn for turn in left if left[turn]]
        draw.shuffle(turns)
        for key, kind in turns[:count - len(changes)]:
            choices = left[(key, kind)]
            changes.append((key, kind, *choices.pop(draw.randrange(len(choices)))))
    return changes


def rounds(changes, calls):
    """Changes of different functions are tried together."""
    left = list(changes)
    while left:
        now, later, functions = [], [], set()
        for change in left:
            function = (*change[0][:2], calls[change[0]]["function"])
            (later if function in functions else now).append(change)
            functions.add(function)
        yield now
        left = later


def with_changes(text, edits):
    for begin, end, new in sorted(edits, reverse=True):
        text = text[:begin] + new + text[end:]
    return text


def evaluated(args, repository, common, changes, folder):
    """The repository as one program, with these changes in it."""
    root = args.checkouts / repository["folder"]
    overlays = {}
    for number, name in enumerate(sorted({key[1] for key, *_ in changes})):
        file = pathlib.Path(folder) / f"planted{number}"
        text = (root / name).read_text(errors="replace")
        file.write_text(with_changes(text, [edit for key, _, edit, _ in changes if key[1] == name]))
        overlays[name] = ["--overlay", str(root / name), str(file)]
    def flow_of(kept):
        report = json.loads(kept.read_text())
        touched = [overlays[name] for name in report.get("files", []) if name in overlays]
        if report.get("failed") or not touched:
            return report, kept.with_suffix(".flow")
        sources = [pathlib.Path(source) for source in report["sources"]]
        flow = pathlib.Path(folder) / kept.with_suffix(".flow").name
        flags = silence.flags_of(repository, common, sources[0], root, args)
        return silence.analyse_together(args, root, sources, flags,
                                        [*sum(touched, []), "--emit", str(flow)]), flow

    flows = []
    files = sorted((args.out / repository["folder"]).glob("*.json"))
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for kept, (report, flow) in zip(files, pool.map(flow_of, files)):
            if not report.get("failed"):
                flows.append(flow)
            elif not json.loads(kept.read_text()).get("failed"):
                return report
    return silence.link(args, flows)


def is_found(key, findings, before):
    here = f"{key[1]}:{key[2]}"
    for each in findings:
        if place(each) not in before and (here in each["sinks"] or (each["file"], each["line"]) == key[1:3]):
            return each["rule"]
    return None


def main():
    parser_args = sys.argv[1:]
    count, seed = 50, 1
    for name in ("--count", "--seed"):
        if name in parser_args:
            at = parser_args.index(name)
            value = int(parser_args[at + 1])
            count, seed = (value, seed) if name == "--count" else (count, value)
            del parser_args[at:at + 2]
    sys.argv[1:] = parser_args
    args = silence.arguments()
    chosen, common = silence.repositories(args)
    calls, before = reached(args)
    if not calls:
        print("no calls: run silence.py with this --out first")
        return 2
    print(f"{len(calls)} calls reached; planting {count} promotions, seed {seed}")
    planted = found = 0
    chances = drawn(args, calls, count, random.Random(seed))
    if len(chances) < count:
        print(f"these calls give only {len(chances)} changes")
    for changes in rounds(chances, calls):
        for repository in chosen:
            own = [each for each in changes if each[0][0] == repository["folder"]]
            if not own:
                continue
            with tempfile.TemporaryDirectory() as folder:
                report = evaluated(args, repository, common, own, folder)
            if report.get("failed"):
                print(f"{repository['folder']}: {report['failed']}")
                continue
            for key, kind, _, expression in own:
                rule = is_found(key, report["findings"], before[key[0]])
                planted += 1
                found += bool(rule)
                print(f"{'found ' if rule else 'MISSED'} {kind:9} {key[0]}/{key[1]}:{key[2]} {calls[key]['api']}: "
                      f"{expression}{f' [{rule}]' if rule else ''}", flush=True)
    print(f"{found} of {planted} found")
    return 0 if planted and found >= 0.9 * planted else 1


if __name__ == "__main__":
    sys.exit(main())
