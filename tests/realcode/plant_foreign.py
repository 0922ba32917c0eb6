#!/usr/bin/env python3
"""Draws promotions to plant in repositories that repositories.json does not name, and counts how many are found.

    plant_foreign.py draw --checkouts DIR [--count 60] [--seed 21] [--table FILE] [--list FILE]
    plant_foreign.py run --tool attention_calls --checkouts DIR --torch INCLUDE --python INCLUDE --stubs DIR
                         [--pch FILE] [--only N[,N...]] [--record FILE]

`draw` reads texts alone: no analyzer has a say in what is planted. It looks in the files that foreign.json names for
attention calls by name and for products beside a softmax, takes one repository after another, one kind after another,
and writes foreign_plants.json: repository, commit, file, line, and the edit, by offset (begin, end, new text), of the
file at that commit. `run` makes one edit at a time, in memory, and analyses the file as one program with the sources
that foreign.json names beside it. Found means a definite finding on the edited line that was not there before. What
does not compile because of the edit is not counted, nor what `excused` gives a reason for, read by hand, why it
promotes nothing.
"""
import argparse
import datetime
import json
import pathlib
import random
import re
import sys
import tempfile

import plant
import silence

HERE = pathlib.Path(__file__).resolve().parent
TABLE, LIST = HERE / "foreign.json", HERE / "foreign_plants.json"
SEARCH = 3000  # characters around a product in which a softmax makes it one of attention, and before it its operands

# {0} is the operand. Each is float32 where the operand is half.
KINDS = {
    "scale": "(({0}) * at::full({{1}}, 0.125, at::kFloat))",
    "norm": "at::layer_norm(({0}).to(at::kFloat), {{({0}).size(-1)}})",
    "rotary": "(({0}) * at::ones({{({0}).size(-2), 1}}, at::kFloat).cos() + "
              "({0}).flip({{-1}}) * at::ones({{({0}).size(-2), 1}}, at::kFloat).sin())",
    "mask": "(({0}) + at::zeros({{1, 1}}, at::kFloat))",
    "cache": "at::cat({{({0}).narrow(-2, 0, 0).to(at::kFloat), {0}}}, -2)",
    "table": "(at::embedding(at::ones({{8, 1}}, at::kFloat), at::arange(1, at::kLong)) * ({0}))",
    "discarded-cast": "[&] {{ at::Tensor widened = ({0}).to(at::kFloat); widened.to(({0}).scalar_type()); return widened; }}()",
    "cast-back": "({0}).to(at::kFloat).mul(0.125)",
}
GGML_KINDS = {"q": "ggml_cast({1}, {0}, GGML_TYPE_F16)", "mask": "ggml_cast({1}, {0}, GGML_TYPE_F32)"}
ATTENTION = re.compile(r"\b(ggml_flash_attn_ext|_?scaled_dot_product(?:_\w+)?_attention(?:_math|_for_cpu)?)\s*\(")
PRODUCT = re.compile(r"(\.|->|::|\b)(matmul|bmm|baddbmm)\s*\(")
CAST_BACK = re.compile(r"\.(?:to\([\w.\->*]+\.(?:dtype|scalar_type|options)\(\)\)|type_as\(\w+\))")
OPERAND = re.compile(r"[\w.\->:()\[\], *]+")


def argument_places(text, match):
    return plant.split_arguments(text, match.end() - 1)


def declares(text, match):
    """Whether the name is declared or defined there, not called."""
    before = text[:match.start()].rstrip()
    return bool(re.search(r"(?:Tensor|tensor|auto|void|int|>|\*|&)$", before)) or before.endswith('"')


def receiver(text, at):
    """Begin and end of the expression before `.matmul(` where that is a plain name with calls."""
    match = re.search(r"[A-Za-z_]\w*(?:(?:\.|->)\w+|\([^()]*\))*$", text[:at])
    return match and (match.start(), at)


def operands_of(text):
    """The operands of attention calls: (offset of the call, API, role, begin, end)."""
    found = []
    for match in ATTENTION.finditer(text):
        ggml = match.group(1).startswith("ggml")
        roles = ("context", "q", "k", "v", "mask") if ggml else ("q", "k", "v", "mask")
        if not declares(text, match):
            found += [(match.start(), match.group(1), role, *place) for role, place in
                      zip(roles, argument_places(text, match))]
    for match in PRODUCT.finditer(text):
        around = text[max(0, match.start() - SEARCH // 3):match.start() + SEARCH // 3]
        if "softmax" not in around.lower() or "ggml" in around or declares(text, match):
            continue
        places = argument_places(text, match)
        method = match.group(1) in (".", "->")
        if method and receiver(text, match.start()):
            places = [receiver(text, match.start()), *places]
        found += [(match.start(), match.group(2), role, *place)
                  for role, place in zip(("left", "right"), places[-2:])]
    return found


def edits_for(text, clean, kind, operand):
    """The edit of that kind at an operand, or None: (line, begin, end, new text, what is changed)."""
    call, api, role, begin, end = operand
    inner = clean[begin:end]
    begin, end = begin + len(inner) - len(inner.lstrip()), begin + len(inner.rstrip())
    inner = " ".join(clean[begin:end].split())
    if api.startswith("ggml"):
        if role not in GGML_KINDS or kind not in ("scale", "mask") or (kind == "mask") != (role == "mask"):
            return None
        context = clean[clean.index("(", call) + 1:].split(",")[0].strip()
        new = None if inner == "nullptr" else GGML_KINDS[role].format(inner, context)
    elif role == "mask" or not OPERAND.fullmatch(inner) or inner in ("", "{}"):
        return None
    else:
        new = KINDS[kind].format(inner)
    return new and (text.count("\n", 0, begin) + 1, begin, end, new + "\n" * text.count("\n", begin, end), inner)


def upstream(text, clean, kind, operand):
    """The same before the call, after the last assignment to an operand that is a plain name; None where the name is
    cast again between."""
    call, api, role, begin, end = operand
    name = clean[begin:end].strip()
    if api.startswith("ggml") or role == "mask" or not re.fullmatch(r"[A-Za-z_]\w*", name):
        return None
    start = max(0, call - SEARCH)
    assignments = list(re.finditer(rf"\b{name}\s*=(?!=)[^;{{}}]+;", clean[start:call]))
    if not assignments:
        return None
    at = start + assignments[-1].end()
    between = clean[at:call]
    if "\n}" in between or re.search(r"\.to\(|type_as|\bcast", between):
        return None
    return text.count("\n", 0, at) + 1, at, at, f" {name} = {KINDS[kind].format(name)};", name


def dropped_cast(text, clean, operand):
    """A cast back that the code has before the call, taken away."""
    call = operand[0]
    start = max(0, call - SEARCH // 2)
    casts = [match for match in CAST_BACK.finditer(clean[start:call]) if "\n}" not in clean[start + match.end():call]]
    if not casts:
        return None
    begin, end = start + casts[-1].start(), start + casts[-1].end()
    return text.count("\n", 0, begin) + 1, begin, end, "", clean[begin:end]


def choices(root, name, kind, draw):
    text = (root / name).read_text(errors="replace")
    clean = plant.without_comments(text)
    for operand in draw.sample(found := operands_of(clean), len(found)):
        ways = [edits_for(text, clean, kind, operand), upstream(text, clean, kind, operand)]
        if kind == "cast-back":
            ways.append(dropped_cast(text, clean, operand))
        ways = [way for way in ways if way]
        if ways:
            line, begin, end, new, inner = draw.choice(ways)
            call_line = text.count("\n", 0, operand[0]) + 1
            yield {"file": name, "line": line, "kind": kind, "call": f"{operand[1]}:{call_line}", "role": operand[2],
                   "of": inner, "begin": begin, "end": end, "new": new}


def draw_list(args):
    draw = random.Random(args.seed)
    table = json.loads(args.table.read_text())
    rows, taken, kinds = [], set(), list(KINDS)
    rounds = 0
    while len(rows) < args.count and rounds < 10 * args.count:
        repositories = table["repositories"][:]
        draw.shuffle(repositories)
        for repository in repositories:
            rounds += 1
            root = args.checkouts / repository["folder"]
            files = [path for pattern in repository["files"] for path in sorted(root.glob(pattern))]
            for path in draw.sample(files, len(files)):
                kind = kinds[len(rows) % len(kinds)]
                name = str(path.relative_to(root))
                fresh = [each for each in choices(root, name, kind, draw)
                         if (repository["folder"], name, each["line"]) not in taken]
                if fresh and len(rows) < args.count:
                    taken.add((repository["folder"], name, fresh[0]["line"]))
                    rows.append({"repository": repository["name"], "commit": repository["commit"], **fresh[0]})
                    break
    lines = ",\n".join("  " + json.dumps(row) for row in rows)
    args.list.write_text(f'{{"seed": {args.seed}, "plants": [\n{lines}\n]}}\n')
    print(f"{len(rows)} plants in {len({row['repository'] for row in rows})} repositories")
    return 0


def lowered(args, repository, name, flow, text=None):
    """One source into the file `flow`; what it said of errors."""
    root = args.checkouts / repository["folder"]
    flags = silence.flags_of(repository, {**args.flags, "host": [], "cuda": []}, root / name, root, args)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(text or "")
        file.flush()
        overlay = ["--overlay", str(root / name), file.name] if text is not None else []
        return silence.analyse(args, root, root / name, flags, [*overlay, "--emit", str(flow)])


def others(args, repository, name):
    """The flows of the repository's other sources, lowered once."""
    root = args.checkouts / repository["folder"]
    sources = [path for pattern in repository.get("with", []) for path in sorted(root.glob(pattern)) if path != root / name]
    flows = []
    for path in sources:
        key = str(path.relative_to(root))
        flow = args.scratch / f"{repository['folder']}+{key.replace('/', '+')}.flow"
        if flow.exists() or not lowered(args, repository, key, flow).get("failed"):
            flows.append(flow)
    return flows


def analysed(args, repository, name, text=None):
    flow = args.scratch / "this.flow"
    report = lowered(args, repository, name, flow, text)
    if report.get("failed"):
        return report
    return {**silence.link(args, [flow, *others(args, repository, name)]), "errors": report["errors"]}


def judged(args, repository, row, before):
    """(verdict, why) of one plant."""
    path = args.checkouts / repository["folder"] / row["file"]
    text = path.read_text(errors="replace")
    after = analysed(args, repository, row["file"], plant.with_changes(text, [(row["begin"], row["end"], row["new"])]))
    if after.get("failed"):
        return "MISSED", after["failed"]
    if any(str(line) == str(row["line"]) for _, line in plant.errors_of(path.parent, after) - plant.errors_of(path.parent, before)):
        return "not counted", "does not compile"
    known = {plant.place(each) for each in before.get("findings", [])}
    lines = range(row["line"], row["line"] + row["new"].count("\n") + 1)
    for each in after.get("findings", []):
        if each["file"] == row["file"] and each["line"] in lines and plant.place(each) not in known:
            return "found", each["rule"]
    if row.get("excused"):
        return "not counted", row["excused"]
    return "MISSED", row.get("cause", "")


def run_list(args):
    table, plants = json.loads(args.table.read_text()), json.loads(args.list.read_text())["plants"]
    args.flags = table["flags"]
    repositories = {each["name"]: each for each in table["repositories"]}
    wanted = {int(word) for word in args.only.split(",")} if args.only else range(1, len(plants) + 1)
    lines, before, tally = [], {}, {"found": 0, "MISSED": 0, "not counted": 0}
    for number, row in enumerate(plants, 1):
        if number not in wanted:
            continue
        repository, key = repositories[row["repository"]], (row["repository"], row["file"])
        if key not in before:
            before[key] = analysed(args, repository, row["file"])
        verdict, why = judged(args, repository, row, before[key])
        tally[verdict] += 1
        lines.append(f"{number:2} {verdict:11} {row['kind']:14} {row['repository']} {row['file']}:{row['line']} "
                     f"{row['call']} {row['role']}: {row['of']} [{why}]")
        print(lines[-1], flush=True)
    lines.append(f"{tally['found']} of {tally['found'] + tally['MISSED']} found; {tally['not counted']} not counted")
    print(lines[-1])
    if args.record:
        head = f"plant_foreign.py, {datetime.date.today()}, version {plant.version()}\n"
        pathlib.Path(args.record).write_text(head + "\n".join(lines) + "\n")
    return 0 if tally["found"] >= 9 * tally["MISSED"] else 1


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    parser.add_argument("verb", choices=("draw", "run"))
    for name in ("tool", "checkouts", "torch", "python", "stubs", "pch"):
        parser.add_argument(f"--{name}", type=lambda path: pathlib.Path(path).absolute())
    parser.add_argument("--table", default=TABLE, type=pathlib.Path, help="instead of its own")
    parser.add_argument("--list", default=LIST, type=pathlib.Path, help="likewise")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=21)
    parser.add_argument("--timeout", type=int, default=300)
    parser.add_argument("--only", default="")
    parser.add_argument("--record")
    args = parser.parse_args()
    if args.verb == "draw":
        return draw_list(args)
    with tempfile.TemporaryDirectory() as folder:
        args.scratch = pathlib.Path(folder)
        return run_list(args)


if __name__ == "__main__":
    sys.exit(main())
