#!/usr/bin/env python3
"""A page that says how to add something names every file that has to be touched for it.

What a file has of each one that is there already, it wants of the next one: code, data or a build file that names every
rule or contract has to be named by the page, and what the page names has to name each of them.

For each kind of addition tests/README.md has a row that says what to build and which tests look at it: targets and tests that
there are, by their names in the build files."""
import dataclasses
import itertools
import json
import pathlib
import re
import sys

from tracked import ROOT, tracked

SEEN = {".cpp", ".h", ".c", ".inc", ".json", ".cmake", ".py", ".sh", ".txt", ".tsv"}
# Where each one is named for another reason: tests of what has a page of its own, and what a release keeps.
ASIDE = ("tests/golden/", "tests/install/stored/", "tests/realcode/", "tests/gpu/")


@dataclasses.dataclass
class Addition:
    what: str
    page: str
    files: tuple  # named by the page, and each of them names all that there are; as from the root of the repository
    names: tuple  # of those that there are
    only_there: bool = True  # no other file names all of them; libraries have the names of sources
    row: str = ""  # of the table in tests/README.md, where it is another than `what`


def stems(pattern, leave_out=()):
    return tuple(sorted(path.stem for path in ROOT.glob(pattern) if path.stem not in leave_out))


def words_of(text):
    return set(re.findall(r"[\w.-]*\w", text)) | set(re.findall(r"\w+", text)) | {
        pathlib.PurePosixPath(word).stem for word in re.findall(r"[\w./-]*\w", text)}


def modules():
    rows = json.loads((ROOT / "analyzer/flow/settings/modules.json").read_text(encoding="utf-8"))["modules"]
    return tuple(sorted({name.removeprefix("torch::nn::") for row in rows for name in row["types"]}))


def modules_of_python():
    text = (ROOT / "tests/unit/flow/library_modules.py").read_text(encoding="utf-8")
    listed = re.search(r"^OF_PYTHON_ALONE = ((?:.*\\\n)*.*)\n", text, re.M)
    return tuple("".join(re.findall(r'"([^"]*)"', listed.group(1))).split()) if listed else ()


def rows_of(page_text):
    """Of the table in tests/README.md: by what is added, the targets and the patterns for `ctest -R`."""
    table = re.search(r"^\| added \| build \| `ctest -R` \|\n\|[-|]*\n((?:\|.*\n)*)", page_text, re.M)
    out = {}
    for line in table.group(1).splitlines() if table else ():
        cells = re.split(r" ?(?<!\\)\| ?", line)[1:-1]
        if len(cells) == 3:
            out[cells[0]] = re.findall(r"`([^`]*)`", cells[1]), alternatives(cells[2].strip("`").replace("\\|", "|"))
    return out


def alternatives(pattern):
    """Each text that such a pattern stands for: a|b (c|d)."""
    out = []
    for branch in re.split(r"\|(?![^(]*\))", pattern):
        parts = [part.strip("()").split("|") for part in re.split(r"(\([^)]*\))", branch) if part]
        out += ["".join(each) for each in itertools.product(*parts)]
    return out


def is_test(name, build_text):
    """By its name, or as one of those that a loop makes: "lint: ${part}"."""
    if name in build_text:
        return True
    head, colon, part = name.partition(": ")
    loops = re.findall(r"foreach\(\w+ ([^)]*)\)", build_text)
    return bool(colon) and f"{head}: ${{" in build_text and any(part in loop.split() for loop in loops)


def wrong_rows(page_text, kinds, build_text):
    rows = rows_of(page_text)
    out = [f"tests/README.md: no row says what to build and run for {kind}" for kind in sorted(kinds - rows.keys())]
    out += [f"tests/README.md: {what} is no kind of addition that check_additions.py knows" for what in sorted(rows.keys() - kinds)]
    for what, (targets, tests) in rows.items():
        for target in targets:
            name = target.removeprefix("bin/")
            if not re.search(rf"add_(?:executable|library|custom_target)\(\s*{re.escape(name)}\b", build_text):
                out.append(f"tests/README.md: {what}: the build has no target {target}")
        out += [f"tests/README.md: {what}: no test is called '{test}'" for test in tests if not is_test(test, build_text)]
    return out


def additions():
    rules = stems("rules/catalog/*.md", ("README",))
    found_by_file = tuple(path.stem for path in sorted((ROOT / "analyzer/flow/queries").glob("*.cpp"))
                          if path.stem.replace("_", "-") in rules)
    contracts = stems("rules/contracts/*.json", ("contracts.schema",))
    sources = tuple(sorted(path.parent.name for path in ROOT.glob("sanitizer/sources/*/files.cmake")))
    return [
        Addition("a rule", "rules/README.md",
                 ("rules/CMakeLists.txt", "tests/unit/rules/catalog/catalog_test.cpp"), rules),
        Addition("a rule that dtype-lint finds", "analyzer/flow/README.md",
                 ("analyzer/flow/CMakeLists.txt",), found_by_file, row="a rule"),
        Addition("a contract", "rules/contracts/README.md", ("rules/CMakeLists.txt",), contracts),
        Addition("a source", "sanitizer/README.md", ("sanitizer/sources/sources.inc",), sources, False),
        Addition("a file of operators", "rules/operators/README.md", ("rules/CMakeLists.txt",), stems("rules/operators/*.json"),
                 row="an operator"),
        Addition("a library module", "analyzer/flow/README.md", ("analyzer/flow/settings/modules.json",), modules(), row="a module"),
        Addition("a library module that libtorch lacks", "analyzer/flow/README.md",
                 ("analyzer/flow/settings/modules.json", "tests/unit/flow/library_modules.py"), modules_of_python(), row="a module"),
    ]


def is_named(page_text, page, file):
    """By its path from the root, or from the page's folder."""
    folder = str(pathlib.PurePosixPath(page).parent)
    shorter = file[len(folder) + 1:] if file.startswith(folder + "/") else file
    return any(f"`{name}`" in page_text for name in (file, shorter))


def wrong(addition, texts, page_text):
    """texts: of each file that may have to be touched."""
    out = []
    if not addition.names:
        out.append(f"{addition.page}: none of what it adds ({addition.what}) is there")
    for file in addition.files:
        if not is_named(page_text, addition.page, file):
            out.append(f"{addition.page}: to add {addition.what}, {file} has to be touched, and the page does not name it")
        missing = set(addition.names) - words_of(texts.get(file, ""))
        if missing:
            out.append(f"{file}: {addition.page} says that {addition.what} stands there; missing: {', '.join(sorted(missing))}")
    for file, text in sorted(texts.items() if addition.only_there else ()):
        if file in addition.files or is_named(page_text, addition.page, file):
            continue
        if all(name in text for name in addition.names) and set(addition.names) <= words_of(text):
            out.append(f"{file} names all there are of {addition.what}; {addition.page} has to name it")
    return out


def main():
    texts = {}
    for path in tracked():
        file = str(path.relative_to(ROOT))
        if path.suffix in SEEN and not file.startswith(ASIDE):
            texts[file] = path.read_text(encoding="utf-8", errors="replace")
    texts = {file: text for file, text in texts.items() if file != "tests/tree/check_additions.py"}
    problems = []
    all_kinds = additions()
    for each in all_kinds:
        problems += wrong(each, texts, (ROOT / each.page).read_text(encoding="utf-8"))
    build_text = "\n".join(path.read_text(encoding="utf-8") for path in tracked("*CMakeLists.txt", "*.cmake"))
    problems += wrong_rows((ROOT / "tests/README.md").read_text(encoding="utf-8"), {each.row or each.what for each in all_kinds},
                           build_text)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
