#!/usr/bin/env python3
"""Each class of analyzer/flow that does work is built in a unit test, with what stands below it and without the others.

Looked for in headers: classes with a member function or a destructor, and structs with a function that stands in a source
file. Plain data and exceptions are neither. Of each, some test case of tests/unit/flow makes an object: its name stands before
a variable, a parenthesis or a brace, there or in the fixtures, functions and aliases that it uses; of an abstract class one
derives, and of a class of static functions one is called. That case asserts something of what the object gives: a result, or
what was handed to it, once it was asked. What else that case makes has to stand below the class: in headers
that its own header and sources include. Structs and abstract classes may stand anywhere.

A file that includes lint_text.h does not count: its programs are analysed as a whole, with whatever parts that takes.
It reads text and knows no types. What stands below is not told from what is needed, so a class that is handed large parts
where little would do is not found; nor what an object makes inside, nor whether what is asserted would fail were it wrong."""
import re
import sys

from tracked import ROOT, tracked

TESTS = "tests/unit/flow/"
WHOLE = f'"{TESTS}lint_text.h"'
# By class: why none is made in a test, or not without others.
EXCEPTIONS = {}

CLASS = re.compile(r"^( *)(class|struct) (\w+)(?: final)?(?:\s*:\s*[^{;]*)?\s*\{\n(.*?)^\1\}", re.M | re.S)
NO_FUNCTION = ("using ", "struct ", "class ", "enum ", "friend ", "static_assert", "requires")
DECLARED = re.compile(r"([^\n(]*?)(~?\b\w+)\(")
RAW = re.compile(r'R"(\w*)\(.*?\)\1"', re.S)
QUOTED = re.compile(r'"(?:\\.|[^"\\\n])*"')
INCLUDE = re.compile(r'^#include "([^"\n]+)"', re.M)
ABSTRACT = re.compile(r"\) (?:const )?= 0;")
NAMED = re.compile(r"(?:.*\n)??(?:class|struct) (\w+)|[^({=;]*?(\w+)\s*[({=;]")
ARGUMENTS = r"(?:<[^;(){}]*>)?"
ASSERTION = re.compile(r"\b(?:CHECK|REQUIRE)\w*\(")
# A function or lambda with a body, whose name stands for what it gives.
BODY = re.compile(r"(?:\b(\w+)\([^;{}]*\)[^;{}()]*|\b(\w+) = \[[^\]]*\][^;{}]*)\{")
VARIABLE = re.compile(r"(?<![\w.:>])&?([a-z]\w*)(?=[\s.,;)\]}=]|->|$)")


def plain(text):
    """Code alone: no comments, and nothing in strings."""
    return re.sub(r"[ \t]*//.*", "", QUOTED.sub('""', RAW.sub('""', text)))


def public_part(indent, kind, body):
    parts = re.split(rf"^{indent} (public|protected|private):$", body, flags=re.M)
    shown = [parts[0]] if kind == "struct" else []
    return "".join(shown + [text for access, text in zip(parts[1::2], parts[2::2]) if access == "public"])


def functions(indent, body):
    """Name, declaration and text of each function among the members."""
    for member in re.split(rf"^{indent}  (?=[^\s}}])", body, flags=re.M):
        found = None if member.startswith(NO_FUNCTION) else DECLARED.match(member)
        before = found.group(1) if found else "="
        if "=" not in before and before.count("<") == before.count(">"):
            yield found.group(2), re.split(r"[;{]", member, maxsplit=1)[0], member


def works(indent, kind, name, body):
    for called, declared, member in functions(indent, public_part(indent, kind, body)):
        if kind == "class" and called != name:
            return True
        given = re.search(r"= (?:default|delete|0)$", declared.rstrip())
        if kind == "struct" and not given and member.startswith(f"{declared};"):
            return True
    return False


def classes(text):
    """Kind, name and body of each that does work, inner ones too where others may make them."""
    for found in CLASS.finditer(text):
        indent, kind, name, body = found.groups()
        if works(indent, kind, name, body):
            yield kind, name, body
        yield from classes(public_part(indent, kind, body))


class Part:
    """A class, with how a test makes one and the headers below it."""

    def __init__(self, kind, name, body, file, sources):
        self.name, self.file = name, file
        self.is_abstract = ABSTRACT.search(body) is not None
        self.is_apart = kind == "class" and not self.is_abstract
        shown = [declared for called, declared, _ in functions("", public_part("", "class", body)) if called.strip("~") != name]
        made = (rf"(?<!class )(?<!struct )(?<![\w~]){name}{ARGUMENTS}(?:\s+\w+)?\s*[({{;=]"
                rf"|(?<![\w~]){name}{ARGUMENTS}\s+\w+, \w+")
        if self.is_abstract:
            made = rf"\bpublic {name}\b"
        elif shown and all(each.startswith("static ") for each in shown):
            made = rf"\b{name}{ARGUMENTS}::\w+\("
        self.made = re.compile(made)
        defines = re.compile(rf"^[^\s#/].*\b{name}::", re.M)
        own = [other for other, text in sources.items() if other.endswith(".cpp") and name in text and defines.search(text)]
        self.is_guard = not shown
        self.below, left = set(), [file, *own]
        while left:
            file = left.pop()
            if file in sources and file not in self.below:
                self.below.add(file)
                left += INCLUDE.findall(sources[file])

    def is_in(self, text):
        return self.name in text and self.made.search(text) is not None

    def is_asserted_in(self, case):
        """Whether an assertion has a name that stands for an object of it, or for what one gave."""
        known, size, handed = {self.name}, 0, set()  # to a constructor
        while len(known) > size:
            size = len(known)
            known |= {name for name, words in case.functions if words & known}
            for each in case.statements:
                if each.words.isdisjoint(known):
                    continue
                known |= each.named
                if self.name in each.words and not self.is_guard and self.made.search(each.text):
                    handed |= each.variables - each.named
                else:
                    known |= each.variables
            if handed and any(not each.asks.isdisjoint(known) for each in case.statements + case.assertions):
                known |= handed
        return any(not each.words.isdisjoint(known) for each in case.assertions)


class Statement:
    def __init__(self, text):
        self.text, self.words = text, set(re.findall(r"\w+", text))
        before, assigned, _ = text.partition(" = ")
        declared = re.search(r"[\w>&*]\s+&?(\w+)\s*(?:\(|$)", text)
        derived = re.search(r"\b(\w+)(?: final)?\s*:\s*public |\busing (\w+) =", text)
        self.named = set(VARIABLE.findall(before + " ")) if assigned else set()
        if derived:
            self.named.add(derived.group(1) or derived.group(2))
        elif declared and not assigned and not re.match(r"\s*(?:return|if|for|while)\b", text):
            self.named.add(declared.group(1))
        self.variables = set(VARIABLE.findall(text))
        self.asks = set(re.findall(r"\b(\w+)(?:\.|->)\w+\(", text)) | set(re.findall(r"[(,] ?[&*]?(\w+)(?=[,)])", text))


class Case:
    """A test case, with that of all by which it makes objects."""

    def __init__(self, text):
        self.text = text
        text = re.sub(r"(\w)\{([^{};]*)\}", r"\1(\2)", text)
        every = [Statement(each) for each in re.split(r"[;{}]", text)]
        self.statements = [each for each in every if not ASSERTION.search(each.text)]
        self.assertions = [each for each in every if ASSERTION.search(each.text)]
        self.functions = [(name, set(re.findall(r"\w+", body))) for name, body in bodies(text)]


def bodies(text):
    """Name and body of each function, lambdas too."""
    out = []
    for found in BODY.finditer(text):
        depth, at = 1, found.end()
        while at < len(text) and depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        name = found.group(1) or found.group(2)
        if not name.startswith("TEST_CASE") and name not in ("if", "for", "while", "switch", "SECTION"):
            out.append((name, text[found.end():at]))
    return out


def blocks(text):
    """What stands in a namespace: functions, classes, test cases, aliases, variables."""
    lines, at = text.split("\n"), 0
    while at < len(lines):
        first = at
        at += 1
        if not lines[first] or lines[first].startswith((" ", "}", "#", "namespace")):
            continue
        last = first
        while last + 1 < len(lines) and not lines[last].rstrip().endswith(("{", ";", "}")):
            last += 1
        if lines[last].rstrip().endswith("{"):
            while last + 1 < len(lines) and not lines[last].startswith("}"):
                last += 1
        yield "\n".join(lines[first:last + 1])
        at = last + 1


def cases(tests):
    """File and text of each."""
    for file, text in sorted(tests.items()):
        if file.endswith(".h") or WHOLE in text:
            continue
        used = {}
        shared = [tests[each] for each in INCLUDE.findall(text) if each in tests]
        for block in (block for each in [*shared, text] for block in blocks(plain(each))):
            found = None if block.startswith("TEST_CASE") else NAMED.match(block)
            if found:
                name = found.group(1) or found.group(2)
                used[name] = used.get(name, "") + block + "\n"
        for block in blocks(plain(text)):
            whole, left, seen = "", [block] if block.startswith("TEST_CASE") else [], set()
            while left:
                one = left.pop()
                whole += one + "\n"
                more = (set(re.findall(r"\w+", one)) & used.keys()) - seen
                seen |= more
                left += [used[name] for name in sorted(more)]
            if whole:
                yield file, Case(whole)


def wrong(sources, tests, exceptions):
    parts = [Part(*found, file, sources) for file, text in sorted(sources.items()) if file.endswith(".h")
             for found in classes(plain(text))]
    best = {}  # by class: what does not stand below it and is made with it, whether nothing is asserted of it, and where
    for file, case in cases(tests):
        made = [part for part in parts if part.is_in(case.text)]
        for part in made:
            others = sorted({each.name for each in made if each.is_apart and each.file not in part.below} - {part.name})
            others = [] if part.is_abstract else others
            if part.name not in best or (len(others), False) < best[part.name][:2]:
                found = len(others), not part.is_asserted_in(case), others, file
                best[part.name] = min(best.get(part.name, found), found, key=lambda each: each[:2])
    said = []
    for part in parts:
        _, is_silent, others, where = best.get(part.name, (0, True, [], ""))
        if part.name in exceptions:
            if where and not others and not is_silent:
                said.append(f"{part.name} is built in a test without others: take it out of EXCEPTIONS")
        elif not where:
            said.append(f"{part.file}: no test of {TESTS} builds {part.name}: add one with what stands below it, and no more")
        elif others:
            said.append(f"{where}: builds {part.name} together with {', '.join(others)}, which {part.file} and its source "
                        "do not include: build it without")
        elif is_silent:
            said.append(f"{where}: builds {part.name} and asserts nothing of what it gives")
    return said + [f"{name} is in EXCEPTIONS, and no class that does work: take it out"
                   for name in sorted(exceptions.keys() - {part.name for part in parts})]


def main():
    def read(*patterns):
        return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in tracked(*patterns)}

    sources = read("analyzer/flow/*.h", "analyzer/flow/*.cpp")
    problems = wrong(sources, read(f"{TESTS}*_test.cpp", f"{TESTS}*.h"), EXCEPTIONS)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
