#!/usr/bin/env python3
"""Plants promotions in other people's code and counts how many of them the analyzer finds.

    plant.py --tool attention_calls --checkouts DIR --torch INCLUDE ... --out DIR [--count 50] [--seed 1]

Takes the attention calls that a run of silence.py with the same --out reached, draws --count of them with --seed, and
changes one input of each, in memory only:

    parameter   x becomes x times a float32 tensor with a dimension, as a float32 parameter would be
    cast-back   x becomes its float32 arithmetic, whose result nobody takes back to the dtype of x

Found means a definite finding that ends at that call or stands at that line, and that was not there before.
"""
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


def plant(root, call, kind, draw):
    path = root / call["file"]
    original = path.read_text(errors="replace")
    candidates = places(without_comments(original), call)
    if not candidates:
        return None
    begin, end = draw.choice(candidates)
    text = original[begin:end]
    if not re.fullmatch(r"\s*(?:/\*.*?\*/\s*)?[\w.\->:()\[\], /*=]+\s*", text) or "nullopt" in text:
        return None
    inner = re.sub(r"/\*.*?\*/", "", text).strip()
    return original[:begin] + KINDS[kind].format(inner) + original[end:], inner


def reached(args):
    """Every reached call once, with the sources that reach it and what is found there already."""
    chosen, common = silence.repositories(args)
    calls = {}
    for repository in chosen:
        root = args.checkouts / repository["folder"]
        for kept in sorted((args.out / repository["folder"]).glob("*.json")):
            report = json.loads(kept.read_text())
            if report.get("failed") or not report["calls"]:
                continue
            sources = [pathlib.Path(source) for source in report["sources"]]
            flags = silence.flags_of(repository, common, sources[0], root, args)
            for call in report["calls"]:
                if call["file"].startswith("/") or not any(role in INPUTS for role in call["operands"]):
                    continue
                key = (repository["folder"], call["file"], call["line"], call["column"])
                calls.setdefault(key, (root, sources, flags, call, report["findings"]))
    return calls


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
    draw = random.Random(seed)
    calls = reached(args)
    if not calls:
        print("no calls: run silence.py with this --out first")
        return 2
    print(f"{len(calls)} calls reached; planting {count} promotions, seed {seed}")
    planted = found = 0
    deck = [(key, kind) for key in sorted(calls) for kind in KINDS for _ in range(1)]
    draw.shuffle(deck)
    while planted < count:
        if not deck:
            deck = [(key, kind) for key in sorted(calls) for kind in KINDS]
            draw.shuffle(deck)
            if planted == 0:
                break
        key, kind = deck.pop()
        root, sources, flags, call, before = calls[key]
        changed = plant(root, call, kind, draw)
        if not changed:
            continue
        text, expression = changed
        with tempfile.NamedTemporaryFile("w", suffix=".planted") as file:
            file.write(text)
            file.flush()
            report = silence.analyse_together(args, root, sources, flags,
                                              ["--overlay", str(root / call["file"]), file.name])
        if report.get("failed"):
            print(f"{key}: {report['failed']}")
            continue
        known = {(each["rule"], each["file"], each["line"]) for each in before}
        here = f"{call['file']}:{call['line']}"
        hits = [each for each in report["findings"] if (each["rule"], each["file"], each["line"]) not in known
                and (here in each["sinks"] or (each["file"], each["line"]) == (call["file"], call["line"]))]
        planted += 1
        found += bool(hits)
        print(f"{'found ' if hits else 'MISSED'} {kind:9} {key[0]}/{here} {call['api']}: {expression}"
              f"{' [' + hits[0]['rule'] + ']' if hits else ''}", flush=True)
    print(f"{found} of {planted} found")
    return 0 if planted and found >= 0.9 * planted else 1


if __name__ == "__main__":
    sys.exit(main())
