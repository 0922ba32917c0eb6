#!/usr/bin/env python3
"""ScaleLLM's rotary embedding, as it was: found at the two commits with the bug, clean where it was fixed.

    rotary.py --tool attention_calls --checkouts DIR --torch INCLUDE --out DIR [--cuda DIR] [--pch FILE] [--stubs DIR]

Expects the commits in DIR/scalellm-5732a459, DIR/scalellm-1ddf34f4 and DIR/scalellm-2ff366c0. The rotary embedding, the
attention that is written by hand and the model's layer stand in different files; they are analysed as one.
"""
import pathlib
import sys
import tempfile

import silence

PARTS = ["src/layers/pos_embedding.cpp", "src/layers/attention.cpp", "src/memory/kv_cache.cpp",
         "src/models/llama/attention.cpp", "src/models/llama/attention.h"]
COMMITS = {"5732a459": True, "1ddf34f4": True, "2ff366c0": False}  # commit: whether the bug is there
RULE = "attention-mixed-dtypes"
SETTINGS = {"fp16-fp32-buffers", "bf16-fp32-buffers"}


def check(args, common, commit, is_buggy):
    root = args.checkouts / f"scalellm-{commit}"
    parts = [part for part in PARTS if (root / part).is_file()]
    if not parts:
        return f"{root} is missing"
    source = root / "all_in_one.cpp"
    flags = silence.flags_of({"flags": ["-I{root}/src"]}, common, source, root, args)
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as file:
        file.write("".join(f'#include "{part}"\n' for part in parts))
        file.flush()
        report = silence.analyse(args, root, source, flags, ["--overlay", str(source), file.name])
    if report.get("failed"):
        return report["failed"]
    products = [call for call in report["calls"] if call["api"] == "einsum"]
    if not any(all(call["operands"].values()) for call in products):
        return f"no product of known operands was reached: {report['errors']}"
    rotary = [each for each in report["findings"] if each["file"] == "src/layers/pos_embedding.h"]
    for each in rotary:
        print(f"{commit}: {each['file']}:{each['line']}: {each['message']} [{each['rule']}] {','.join(each['precision'])}")
    if not is_buggy:
        left = [each for each in report["findings"] if SETTINGS & set(each["precision"])]
        return f"findings where the bug was fixed: {left}" if left else ""
    right = [each for each in rotary if each["rule"] == RULE and set(each["precision"]) == SETTINGS]
    return "" if right and len(rotary) == len(report["findings"]) else f"not as expected: {report['findings']}"


def main():
    args = silence.arguments()
    _, common = silence.repositories(args)
    problems = 0
    for commit, is_buggy in COMMITS.items():
        problem = check(args, common, commit, is_buggy)
        print(f"{commit}: {problem or ('found' if is_buggy else 'clean in these settings, with all operands known')}", flush=True)
        problems += bool(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
