#!/usr/bin/env python3
"""Functions fit a screen, and a class or struct of the engine has at most 25 methods and no friends, inner ones too.

The sources are formatted (check_format.py): a definition ends with the next brace at the column where it begins. What
is longer stands in LONG, by file and name; that list may only shrink."""
import re
import sys

from tracked import ROOT, tracked

LINES = 80
METHODS = 25
PARTS = "analyzer/flow/"
# Switches over instructions, here and in the tests' interpreter, and over the frames of a journal; a table of options.
LONG = {"analyzer/flow/engine/interpreter/transfer.cpp:Engine::transfer", "tests/oracle/interpreter/machine.cpp:Machine::step",
        "sanitizer/symbolize/journal_reader.cpp:store", "analyzer/driver/declared_options.cpp:declare"}

NO_FUNCTION = ("namespace", "class", "struct", "enum", "union", "using", "template", "#", "//", "}", ":", "{", "*")
NAME = re.compile(r"([\w:~]+|operator\S+)\(")
CLASS = re.compile(r"^( *)(?:class|struct) (\w+)\b(?![^{\n]*;)[^;{]*\{\n(.*?)^\1\};", re.M | re.S)
METHOD = r"^{}  (?! )(?!using |class |struct |enum |friend )[^\n(=]*?(?:\b(\w+)|\b(operator\S+))\("


def functions(text):
    """Name and lines of each function, in classes too."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    lines = re.sub(r"[ \t]*//.*", "", text).split("\n")
    at = 0
    while at < len(lines):
        begins = lines[at].lstrip(" ")
        if not begins or begins.startswith(NO_FUNCTION) or "(" not in begins:
            at += 1
            continue
        body = at
        while body + 1 < len(lines) and not lines[body].rstrip().endswith(("{", ";", "}")):
            body += 1
        end = body
        if lines[body].rstrip().endswith("{"):
            last = " " * (len(lines[at]) - len(begins)) + "}"
            while end + 1 < len(lines) and not lines[end].startswith(last):
                end += 1
            found = NAME.search(lines[at])
            yield found.group(1) if found else lines[at], end - at + 1
        at = end + 1


def long_functions(texts, known):
    over = {}
    for file, text in sorted(texts.items()):
        over.update({f"{file}:{name}": f"{file}: {name} has {count} lines; keep a function within {LINES}"
                     for name, count in functions(text) if count > LINES})
    return [said for name, said in over.items() if name not in known] + [
        f"{name}: in LONG, and no function of that name has more than {LINES} lines: take it out"
        for name in sorted(known - over.keys())]


def classes(text):
    """Indent, name and body of each, inner ones too."""
    for indent, name, body in CLASS.findall(text):
        yield indent, name, body
        yield from classes(body)


def large_parts(texts):
    for file, text in sorted(texts.items()):
        for indent, name, body in classes(re.sub(r"//.*", "", text)):
            methods = [each or of for each, of in re.findall(METHOD.format(indent), body, re.M) if each != name]
            if len(methods) > METHODS:
                yield f"{file}: {name} has {len(methods)} methods; keep a part of the engine within {METHODS}"
            if re.search(rf"^{indent}  friend (?!.*\boperator)", body, re.M):
                yield f"{file}: {name} has a friend; a part of the engine owns what it keeps"


def main():
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
             for path in tracked("*.h", "*.cpp", "*.c", "*.cu", "*.cuh")}
    wrong = long_functions(texts, LONG)
    wrong += large_parts({name: text for name, text in texts.items() if name.startswith(PARTS)})
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
