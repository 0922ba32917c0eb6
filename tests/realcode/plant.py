#!/usr/bin/env python3
"""Plants promotions in other people's code and counts how many of them the analyzer finds.

    plant.py --tool attention_calls --checkouts DIR --torch INCLUDE ... --out DIR [--count 50] [--seed 1] [--record FILE]

Takes the attention calls that a run of silence.py with the same --out reached, draws --count of their inputs with
--seed, and changes one at a time, in memory only:

    parameter   x becomes x times a float32 tensor with a dimension, as a float32 parameter would be
    cast-back   x becomes its float32 arithmetic, whose result is not cast back to the dtype of x

Found means a definite finding that ends at that call, stands on the lines that were changed, and was not there before.
What promotes nothing is not counted, and another change is drawn instead. There are two reasons, and both are known
before the search for the change: wherever the call is reached the input is float32 already, on some way at least
(PyTorch's own attention widens its inputs by a switch); or the changed file does not compile there. --record writes
what was printed to a file, with the date and the version of this repository.
"""
import collections
import concurrent.futures
import datetime
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import silence

KINDS = {
    "parameter": "({0}).mul(({0}).new_ones({{8}}, at::kFloat))",
    "cast-back": "({0}).to(at::kFloat).mul(0.125)",
}
# The operands of a product are left and right, also when it is written as a method: `a.matmul(b)`.
INPUTS = ("q", "k", "v", "left", "right", "x")
WIDE = {"float32", "float64"}
PRODUCTS = re.compile(r"(matmul|bmm|mm|einsum|baddbmm)\s*\(")

# One change: the key of its call, the kind, the role, (begin, end, new text), the expression, and its lines.
Change = collections.namedtuple("Change", "key kind role edit expression lines")


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
    """Where the inputs of a call stand in its file: {role: (begin, end)} of those that can be changed."""
    lines = text.split("\n")
    offset = sum(len(line) + 1 for line in lines[:call["line"] - 1])
    offset += len(lines[call["line"] - 1].encode()[:call["column"] - 1].decode(errors="replace"))
    product = "left" in call["operands"]
    match = (PRODUCTS if product else re.compile(r"[\w:<>]+\s*\(")).search(text, offset)
    if not match or match.start() > offset + 4000:
        return {}
    found = split_arguments(text, match.end() - 1)
    first = 0
    if call["api"] == "einsum":
        braces = [(a, b) for a, b in found if text[a:b].strip().startswith("{")]
        found = split_arguments(text, text.index("{", braces[0][0])) if braces else []
    elif product:
        first = 1 if text[:match.start()].rstrip().endswith((".", "->")) else 0
        first -= call["api"] == "baddbmm"
    wanted = {role: operand["argument"] - first for role, operand in call["operands"].items() if role in INPUTS}
    return {role: found[at] for role, at in wanted.items() if 0 <= at < len(found)}


def changes_of(root, key, call, kind):
    """Every change of that kind at this call."""
    original = (root / call["file"]).read_text(errors="replace")
    found = []
    for role, (begin, end) in sorted(places(without_comments(original), call).items()):
        text = original[begin:end]
        if not re.fullmatch(r"\s*(?:/\*.*?\*/\s*)?[\w.\->:()\[\], /*=]+\s*", text) or "nullopt" in text:
            continue
        begin, end = begin + len(text) - len(text.lstrip()), begin + len(text.rstrip())
        inner = " ".join(re.sub(r"/\*.*?\*/", "", original[begin:end]).split())
        height = original.count("\n", begin, end)  # what follows keeps its line
        first = original.count("\n", 0, begin) + 1
        edit = (begin, end, KINDS[kind].format(inner) + "\n" * height)
        found.append(Change(key, kind, role, edit, inner, range(first, first + height + 1)))
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


def drawn(args, calls, draw):
    """All changes, no two alike, in the order in which they are tried: each call and kind has its turn before one comes
    again."""
    left = {(key, kind): changes_of(args.checkouts / key[0], key, calls[key], kind)
            for key in sorted(calls) for kind in KINDS}
    changes = []
    while any(left.values()):
        turns = [turn for turn in left if left[turn]]
        draw.shuffle(turns)
        changes += [left[turn].pop(draw.randrange(len(left[turn]))) for turn in turns]
    return changes


def is_wide(operand):
    """Whether the input is float32 already on some way to the call, wherever that is reached: nowhere half on all ways,
    and nowhere unknown. There a float32 factor promotes nothing."""
    return not operand["half"] and "unknown" not in operand["dtypes"] and not WIDE.isdisjoint(operand["dtypes"])


def next_round(queue, calls, count):
    """At most `count` changes of different functions, taken off the queue: these are tried together."""
    now, functions = [], set()
    for change in list(queue):
        function = (*change.key[:2], calls[change.key]["function"])
        if function not in functions and len(now) < count:
            functions.add(function)
            now.append(change)
            queue.remove(change)
    return now


def with_changes(text, edits):
    for begin, end, new in sorted(edits, reverse=True):
        text = text[:begin] + new + text[end:]
    return text


def errors_of(root, report):
    found = [re.match(r"(.*?):(\d+): ", each) for each in report.get("errors", [])]
    return {(root / match.group(1), int(match.group(2))) for match in found if match}


def evaluated(args, repository, common, changes, folder):
    """The repository as one program with these changes in it, and where the changed files have errors of their own."""
    root = args.checkouts / repository["folder"]
    overlays = {}
    for number, name in enumerate(sorted({change.key[1] for change in changes})):
        file = pathlib.Path(folder) / f"planted{number}"
        text = (root / name).read_text(errors="replace")
        file.write_text(with_changes(text, [change.edit for change in changes if change.key[1] == name]))
        overlays[name] = ["--overlay", str(root / name), str(file)]

    def flow_of(kept):
        before = json.loads(kept.read_text())
        touched = [overlays[name] for name in before.get("files", []) if name in overlays]
        if before.get("failed") or not touched:
            return before, kept.with_suffix(".flow"), set()
        sources = [pathlib.Path(source) for source in before["sources"]]
        flow = pathlib.Path(folder) / kept.with_suffix(".flow").name
        flags = silence.flags_of(repository, common, sources[0], root, args)
        report = silence.analyse_together(args, root, sources, flags, [*sum(touched, []), "--emit", str(flow)])
        return report, flow, errors_of(root, report) - errors_of(root, before)

    flows, errors = [], set()
    files = sorted((args.out / repository["folder"]).glob("*.json"))
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for kept, (report, flow, fresh) in zip(files, pool.map(flow_of, files)):
            errors |= fresh
            if not report.get("failed"):
                flows.append(flow)
            elif not json.loads(kept.read_text()).get("failed"):
                return report, errors
    return silence.link(args, flows, sorted(overlays)), errors


def rule_that_found(change, findings, before):
    for each in findings:
        here = f"{change.key[1]}:{change.key[2]}" in each["sinks"]
        if here and each["file"] == change.key[1] and each["line"] in change.lines and place(each) not in before:
            return each["rule"]
    return None


class Tally:
    def __init__(self, calls):
        self.calls, self.planted, self.found, self.rejected, self.lines = calls, 0, 0, 0, []

    def say(self, line):
        self.lines.append(line)
        print(line, flush=True)

    def note(self, verdict, change, why=""):
        where = f"{change.key[0]}/{change.key[1]}:{change.key[2]} {self.calls[change.key]['api']} {change.role}"
        self.say(f"{verdict:12} {change.kind:9} {where}: {change.expression}{f' [{why}]' if why else ''}")

    def reject(self, change, why):
        self.rejected += 1
        self.note("not counted", change, why)

    def count(self, change, rule, why=""):
        self.planted += 1
        self.found += bool(rule)
        self.note("found" if rule else "MISSED", change, rule or why)

    def summary(self):
        return f"{self.found} of {self.planted} found; {self.rejected} changes that promote nothing were not counted"


def plant(args, calls, before, count, seed, tally):
    chosen, common = silence.repositories(args)
    queue = drawn(args, calls, random.Random(seed))
    while queue and tally.planted < count:
        changes = []
        for change in next_round(queue, calls, count - tally.planted):
            if is_wide(calls[change.key]["operands"][change.role]):
                tally.reject(change, "float32 already")
            else:
                changes.append(change)
        for repository in chosen:
            own = [each for each in changes if each.key[0] == repository["folder"]]
            if not own:
                continue
            root = args.checkouts / repository["folder"]
            with tempfile.TemporaryDirectory() as folder:
                report, errors = evaluated(args, repository, common, own, folder)
            for change in own:
                if any((root / change.key[1], line) in errors for line in change.lines):
                    tally.reject(change, "does not compile")
                else:
                    rule = rule_that_found(change, report.get("findings", []), before[change.key[0]])
                    tally.count(change, rule, report.get("failed", ""))
    if tally.planted < count:
        tally.say(f"these calls give only {tally.planted} promotions")


def version():
    done = subprocess.run(["git", "-C", silence.HERE, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return done.stdout.strip() or "not known"


def main():
    options = {"--count": "50", "--seed": "1", "--record": ""}
    for name in options:
        if name in sys.argv:
            at = sys.argv.index(name)
            options[name] = sys.argv[at + 1]
            del sys.argv[at:at + 2]
    count, seed = int(options["--count"]), int(options["--seed"])
    args = silence.arguments()
    calls, before = reached(args)
    if not calls:
        print("no calls: run silence.py with this --out first")
        return 2
    tally = Tally(calls)
    tally.say(f"{len(calls)} calls reached; planting {count} promotions, seed {seed}")
    plant(args, calls, before, count, seed, tally)
    tally.say(tally.summary())
    if options["--record"]:
        head = f"plant.py, {datetime.date.today()}, version {version()}\n"
        pathlib.Path(options["--record"]).write_text(head + "\n".join(tally.lines) + "\n")
    return 0 if tally.planted and tally.found >= 0.9 * tally.planted else 1


if __name__ == "__main__":
    sys.exit(main())
