#!/usr/bin/env python3
"""Compares what a Markdown file shows with what the commands print now.

    check_readme.py FILE --root DIR --build DIR --tools DIR[:DIR] --have LIST [--accept]

A marker on the line before a fenced block tells the command that prints the block:

    <!-- check: dtype-lint -p build examples/var/after.cpp -->
    <!-- check (exit 1, needs torch): dtype-lint -p build examples/var/before.cpp -->

The command ends with status 0, or with the one that `exit` names; `needs` leaves the block out where --have does not
list that part (analyzer, torch). sh runs it in --root with --tools in front of PATH. The word build, or a path that
begins with build/, stands for --build, in the command and in what it prints. Paths below --root are relative to it;
process, host and offsets are evened out. The first line of a block may show the command itself ("$ " and the marker's
words). In the expected lines

    ...     alone on a line stands for any number of lines
    …       stands for any text within the line

    <!-- generated: packages -->  (or rules, known)  up to  <!-- end -->

is a table written from its one home: cmake/packages/packages.tsv, the pages in rules/catalog/, or the fixtures in
tests/golden that say what is missed or falsely found.

--accept writes what differs into the file instead, the exit status included (a block with wildcards that differs is
replaced as a whole). Exit 0: all agree; 1: a difference (printed), or the file has nothing to check; 2: a marker is
wrong.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

CHECK = re.compile(r"^\s*<!--\s*check\s*(?:\((?P<terms>[^)]*)\))?\s*:\s*(?P<command>.+?)\s*-->\s*$")
GENERATED = re.compile(r"^\s*<!--\s*generated\s*:\s*(?P<name>\S+)\s*-->\s*$")
MARKER = re.compile(r"^\s*<!--\s*(?:check|generated)\b")
FENCE = re.compile(r"^\s*```")


class Part:
    """Lines [begin, end) of the file, printed by `command` or generated from `table`."""

    def __init__(self, line, begin, end, command=None, table=None, terms=""):
        self.line, self.begin, self.end, self.command, self.table = line, begin, end, command, table
        self.exit, self.needs = 0, []
        for term in filter(None, (term.strip() for term in (terms or "").split(","))):
            word, _, value = term.partition(" ")
            if word == "exit" and value.isdigit():
                self.exit = int(value)
            elif word == "needs" and value:
                self.needs.append(value)
            else:
                wrong(line, f"unknown term '{term}'; known: exit N, needs NAME")

    def marker(self):
        terms = [f"exit {self.exit}"] * (self.exit != 0) + [f"needs {name}" for name in self.needs]
        return f"<!-- check{' (' + ', '.join(terms) + ')' if terms else ''}: {self.command} -->"


def wrong(line, message):
    print(f"line {line}: {message}")
    sys.exit(2)


def find(lines, start, expression, line, what):
    for index in range(start, len(lines)):
        if expression.match(lines[index]):
            return index
    return wrong(line, f"{what} is missing")


def read_parts(lines):
    parts, index = [], 0
    while index < len(lines):
        line, text = index + 1, lines[index]
        check, generated = CHECK.match(text), GENERATED.match(text)
        if check:
            if index + 1 >= len(lines) or not FENCE.match(lines[index + 1]):
                wrong(line, "a fenced block must follow the marker")
            end = find(lines, index + 2, FENCE, line, "the end of the fenced block")
            parts.append(Part(line, index + 2, end, command=check["command"], terms=check["terms"]))
            index = end
        elif generated:
            if generated["name"] not in TABLES:
                wrong(line, f"no table '{generated['name']}'; known: {', '.join(sorted(TABLES))}")
            end = find(lines, index + 1, re.compile(r"^\s*<!--\s*end\s*-->"), line, "<!-- end -->")
            parts.append(Part(line, index + 1, end, table=generated["name"]))
            index = end
        elif MARKER.match(text):
            wrong(line, f"not a marker: {text.strip()}")
        index += 1
    return parts


def pattern(expected):
    """The expected lines as a regular expression over the whole output."""
    parts = []
    for line in expected:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*?".join(map(re.escape, line.split("…"))) + r"\n")
    return re.compile("".join(parts))


def scrub(text, root, build):
    text = text.replace(str(build), "build").replace(f"{root}/", "").replace(str(root), ".")
    if build.parent == root:
        text = re.sub(rf"(?<![\w./-]){re.escape(build.name)}(?=/|\b(?!-))", "build", text)
    text = re.sub(r"\bpid \d+ on [\w.-]+", "pid 4242 on host", text)
    text = re.sub(r"\(\+0x[0-9a-f]+\)", "(+0x…)", text)
    return re.sub(r"[ \t]+$", "", text, flags=re.M).rstrip("\n")


def execute(command, args):
    """Exit status and scrubbed output, error output included."""
    there = "'" + os.path.relpath(args.build, args.root).replace("'", "'\\''") + "'"
    real = re.sub(r"(?<![\w./-])build(?=/|\s|$)", lambda _: there, command)
    environment = dict(os.environ, PATH=f"{args.tools}:{os.environ['PATH']}", LC_ALL="C.UTF-8")
    done = subprocess.run(["sh", "-c", real], cwd=args.root, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, scrub(done.stdout, args.root, args.build)


def table(header, rows):
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    return lines + [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]


def packages(args):
    text = (args.root / "cmake" / "packages" / "packages.tsv").read_text(encoding="utf-8")
    lines = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    releases, names, rows = lines[0][1], lines[1], lines[2:]
    rows = [dict(zip(names, row)) for row in rows]
    newest = releases.split()[0]
    return table(("package (Debian 12)", "what for", ""),
                 [(f"`{row['debian-12'].replace('@', newest)}`", row["why"],
                   "optional" if row["kind"] == "optional" else "") for row in rows])


def rules(args):
    pages = [dict(re.findall(r"^(id|summary|precedence): *(.*?) *$", page.read_text(encoding="utf-8"), re.M))
             for page in (args.root / "rules" / "catalog").glob("*-*.md")]
    pages.sort(key=lambda page: int(page["precedence"]))
    catalog = os.path.relpath(args.root / "rules" / "catalog", args.file.resolve().parent)
    folder = "" if catalog == "." else f"{catalog}/"
    return table(("rule", "says"), [(f"[`{page['id']}`]({folder}{page['id']}.md)", page["summary"])
                                    for page in pages])


SAID = re.compile(r"^ *(?://|#) (missed|false alarm): (.*(?:\n *// .*)*)", re.I | re.M)


def known(args):
    """What fixtures say of themselves: `// Missed: ...` and `// False alarm: ...` in C++, `# missed: ...` in Python."""
    golden, rows = args.root / "tests" / "golden", []
    for file in sorted([*golden.glob("constructs/*.cpp"), *golden.glob("python/*/*.py")]):
        link = os.path.relpath(file, args.file.resolve().parent)
        for kind, text in SAID.findall(file.read_text(encoding="utf-8")):
            rows.append((kind.lower(), re.sub(r"\s*\n *// ", " ", text).strip().rstrip("."), f"[{file.name}]({link})"))
    return table(("", "what", "fixture"), sorted(rows, key=lambda row: row[0]))


TABLES = {"packages": packages, "rules": rules, "known": known}


def current(part, shown, args):
    """Whether the shown lines are true, and the true ones."""
    if part.table:
        true = TABLES[part.table](args)
        return [line for line in shown if line.strip()] == true, true
    prompt = "$ " + part.command
    body = shown[1:] if shown[:1] == [prompt] else shown
    status, printed = execute(part.command, args)
    true = shown[:len(shown) - len(body)] + (printed.splitlines() if printed else [])
    if status != part.exit:
        print(f"line {part.line}: {prompt}\nexit status {status}, the marker says {part.exit}\n{printed}")
        if not args.accept:
            sys.exit(1)
        part.exit = status
    return bool(pattern(body).fullmatch(printed + "\n" if printed else "")), true


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=pathlib.Path)
    for name in ("root", "build"):
        parser.add_argument(f"--{name}", type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--tools", default="")
    parser.add_argument("--have", default="", type=lambda names: names.split(","))
    parser.add_argument("--accept", action="store_true")
    args = parser.parse_args()

    lines = args.file.read_text(encoding="utf-8").splitlines()
    parts = read_parts(lines)
    if not parts:
        print(f"{args.file}: nothing to check; a marker is <!-- check: COMMAND -->")
        return 1
    good = True
    for part in reversed(parts):  # backwards, so that accepted lines do not move the parts still to come
        lacking = [name for name in part.needs if name not in args.have]
        if lacking:
            print(f"line {part.line}: left out, this build is without {', '.join(lacking)}")
            continue
        shown = lines[part.begin:part.end]
        same, true = current(part, shown, args)
        if args.accept and part.command:
            lines[part.line - 1] = part.marker()
        if same:
            continue
        if args.accept:
            lines[part.begin:part.end] = true
        else:
            good = False
            print(f"line {part.line}: {part.command or part.table}\n--- the file says\n" + "\n".join(shown) +
                  "\n--- true now\n" + "\n".join(true) + "\n---")
    if args.accept:
        args.file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
