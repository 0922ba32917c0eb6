"""Holds nvcc's own list of options against the table that translates them.

    nvcc_options.py NVCC TABLE

Every option that `nvcc --help` names, long and short, has a row in nvcc_flags.json, which says rightly whether a value
follows it: one that is taken for a flag leaves its value behind as a source.
"""
import json
import pathlib
import re
import subprocess
import sys

# Options whose help does not show that they take a value.
TAKE_A_VALUE = {"--dependency-output", "-MF", "--qpp-config", "-qpp-config"}


def listed(nvcc):
    text = subprocess.run([nvcc, "--help"], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        row = re.match(r"(--[\w-]+)(.*?)\s\(?(--?[\w-]+)\)?\s*$", line)
        if row:
            long, shown, short = row.groups()
            yield from ((name, bool(shown.strip()) or name in TAKE_A_VALUE) for name in (long, short))


def main():
    rows = json.loads(pathlib.Path(sys.argv[2]).read_text())["options"]
    table = {name: row["value"] for row in rows for name in row["names"]}
    problems = []
    options = dict(listed(sys.argv[1]))
    assert len(options) > 150, f"only {len(options)} options found in nvcc's help"
    for name, takes_value in options.items():
        if name not in table:
            problems.append(f"{name} has no row")
        elif table[name] != takes_value:
            problems.append(f"{name}: value is {table[name]} in the table, {takes_value} in nvcc's help")
    names = [name for row in rows for name in row["names"]]
    problems += [f"{name} has two rows" for name in sorted(set(names)) if names.count(name) > 1]
    print("\n".join(problems) or f"{len(options)} options have their rows")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
