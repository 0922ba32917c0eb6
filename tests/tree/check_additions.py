#!/usr/bin/env python3
"""A page that says how to add something names every file that has to be touched for it.

What a file has of each one that is there already, it wants of the next one: code, data or a build file that names every
rule or contract has to be named by the page, and what the page names has to name each of them."""
import dataclasses
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


def stems(pattern, leave_out=()):
    return tuple(sorted(path.stem for path in ROOT.glob(pattern) if path.stem not in leave_out))


def words_of(text):
    return set(re.findall(r"[\w.-]*\w", text)) | set(re.findall(r"\w+", text)) | {
        pathlib.PurePosixPath(word).stem for word in re.findall(r"[\w./-]*\w", text)}


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
                 ("analyzer/flow/CMakeLists.txt",), found_by_file),
        Addition("a contract", "rules/contracts/README.md", ("rules/CMakeLists.txt",), contracts),
        Addition("a source", "sanitizer/README.md", ("sanitizer/sources/sources.inc",), sources, False),
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
    for each in additions():
        problems += wrong(each, texts, (ROOT / each.page).read_text(encoding="utf-8"))
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
