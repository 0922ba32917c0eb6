"""The catalog's examples are tests: each page's bad and good example, put where `// EXAMPLE` stands in catalog/RULE.inc, is
linted with its rule. Bad is flagged at its marked line ("// <--"), good is not. A page without such a file is a failure.
Usage: catalog_examples.py CATALOG [--write FOLDER | --lint DTYPE_LINT --include DIR...]
Without --lint it only checks that every page can be taken apart; --write leaves the sources in a folder."""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CONTEXTS = pathlib.Path(__file__).resolve().parent
MARK = "// <--"
PLACE = re.compile(r"^( *)// EXAMPLE\n", re.MULTILINE)
BLOCK = re.compile(r"^(Bad|Good):\n\n```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What the command line must say for the rule to have a say.
OPTIONS = {"version-dependent-dtype": ["--torch", "2.4..2.13"]}
# Where the example comes to no attention call, of which alone dtype-lint speaks. tests/process/torch_test.py makes such calls,
# tests/golden/python has what dtype-lint says.
AT_RUN_TIME = {"operator-mixed-dtypes"}


def examples(page):
    """{"Bad": source, "Good": source}; the bad one has one marked line."""
    text = page.read_text(encoding="utf-8")
    found = dict(BLOCK.findall(text))
    if set(found) != {"Bad", "Good"}:
        sys.exit(f"{page}: found examples {sorted(found)}, expected one Bad and one Good block of cpp")
    if found["Bad"].count(MARK) != 1 or MARK in found["Good"]:
        sys.exit(f"{page}: exactly one line of the bad example is marked with '{MARK}', none of the good one")
    return found


def placed(rule, kind, example):
    """The context with the example in it; NAME in the context becomes a name that occurs once."""
    name = f"{kind.lower()}_{rule.replace('-', '_')}"
    context = (CONTEXTS / f"{rule}.inc").read_text(encoding="utf-8").replace("NAME", name)
    indent = PLACE.search(context).group(1)
    body = "".join(indent + line if line.strip() else line for line in example.splitlines(keepends=True))
    return PLACE.sub(lambda _: body, context)


def lint(program, includes, folder, rules):
    """Findings in the rules' files, all looked at in one run for each command line."""
    plain = [rule for rule in rules if rule not in OPTIONS]
    found = lint_with([], program, includes, folder, plain) if plain else []
    for rule in sorted(set(rules) - set(plain)):
        found += lint_with(OPTIONS[rule], program, includes, folder, [rule])
    return found


def lint_with(options, program, includes, folder, rules):
    report = folder / "report.json"
    flags = [part for include in includes for part in ("-isystem", include)]
    run = subprocess.run([program, *options, "--root", str(folder), f"--format=json={report}", "--color=never",
                          *[str(folder / f"{rule}.cpp") for rule in rules], "--", "-std=c++17", *flags],
                         capture_output=True, text=True)
    if run.returncode not in (0, 1):
        sys.exit(f"exit status {run.returncode}\n{run.stdout}{run.stderr}")
    return json.loads(report.read_text(encoding="utf-8"))["findings"]


def judge(rule, kind, lines, findings):
    """What is wrong with the findings of the example whose lines are given, as (number, text)."""
    wanted = {number for number, text in lines if MARK in text and rule not in AT_RUN_TIME}
    numbers = {number for number, _ in lines}
    found = {f["location"]["line"] for f in findings
             if f["location"]["line"] in numbers and rule in [f["rule"], *f["also_rules"]]}
    if found == wanted:
        return []
    shown = "\n".join(f"  {number}: {text}" for number, text in lines)
    return [f"{rule}, {kind}: found at {sorted(found)}, expected at {sorted(wanted)}\n{shown}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("catalog", type=pathlib.Path)
    parser.add_argument("--lint")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    failures, parts, sources = [], [], {}
    pages = sorted(page for page in options.catalog.glob("*.md") if page.name != "README.md")
    for page in pages:
        rule, found = page.stem, examples(page)
        if not (CONTEXTS / f"{rule}.inc").exists():
            failures.append(f"{rule}: has no context in {CONTEXTS}")
            continue
        source = '#include "context.h"\n'
        for kind, example in found.items():
            first = source.count("\n")
            source += placed(rule, kind, example)
            parts.append((rule, kind, list(enumerate(source.splitlines(), 1))[first:]))
        sources[rule] = source
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.write or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        # Beside the examples: what is not below the root is other people's code, whose bodies are not read.
        shutil.copy(CONTEXTS / "context.h", folder)
        for rule, source in sources.items():
            (folder / f"{rule}.cpp").write_text(source, encoding="utf-8")
        findings = lint(options.lint, options.include, folder, sources) if options.lint else []
    for rule, kind, lines in parts if options.lint else ():
        failures += judge(rule, kind, lines, [f for f in findings if f["location"]["file"] == f"{rule}.cpp"])
    linted = len(parts) if options.lint else 0
    print("\n".join(failures) or f"{len(pages)} pages, {linted} examples linted")
    sys.exit(1 if failures else 0)


main()
