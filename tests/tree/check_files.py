#!/usr/bin/env python3
"""Source files stay under 400 lines, pages are short, their links lead somewhere and the files that they name are there, folders explain themselves in the terms of
the field, and no file names a folder of one machine."""
import fnmatch
import posixpath
import re
import sys

from tracked import ROOT, tracked

LINES = 400
SOURCES = ("*.cpp", "*.h", "*.c", "*.cu", "*.cuh", "*.py", "*.cmake", "*.sh", "*CMakeLists.txt")
FOLDERS = ("rules", "kernels", "analyzer", "sanitizer", "tests", "examples")
# What the layout has at the top; names with a dot in front belong to tools that look for them there.
TOP = {*FOLDERS, "cmake", "CMakeLists.txt", "CMakePresets.json", "LICENSE", "Makefile", "README.md"}
HOME = re.compile(r"(?<![\w.$}])/(?:home|root|Users)/[a-z]\w*/")
UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")

# Words that make a reader ask who or what is meant, with what to write instead. An underscore ends a word: names of tests count.
PRIVATE = {
    "whoever": "name the caller, the kernel or the code that does it",
    "nobody": "'unseen code', 'no caller', 'unused', 'implicit', or the passive",
    "somebody": "'a caller', 'unseen code', 'explicit', or the passive",
    "anybody": "'any caller', 'unseen code', or the passive",
    "what is said of": "'the findings of', 'the text of'",
    "has the word": "'decides', 'takes precedence'",
    "out of sight": "'escapes', 'is not shown'",
}
PRIVATE_WORD = re.compile(rf"(?<![a-z])(?:{'|'.join(PRIVATE)})(?![a-z])", re.IGNORECASE)
PLAIN = (*FOLDERS, "cmake")
OWN_WORDS = "tests/tree/"  # where the words stand to be refused

# A machine that is busy takes longer for everything: the runner alone says when a test is over. A benchmark's jobs are its own.
CLOCK = re.compile(r"\btimeout=\d+[,)]")
BY_CLOCK = ("tests/bench/", "tests/tree/")

KB = 1024
PAGE_KB = 8
# Pages with a limit of their own. One above PAGE_KB may only be lowered.
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
PAGE_LIMITS = {"README.md": 7}
# A file or folder, in backticks; `{a,b}.h` and `name.*` are several.
NAMED = re.compile(r"`([\w./*{},-]*[\w*}](?:\.(?:cpp|h|c|cu|cuh|py|sh|json|md|cmake|txt|inc|tsv|css|js|html|ipynb|toml|\*|\{[\w,]+\})|/))`")
STANDS_FOR_ANY = re.compile(r"(?<![A-Za-z])(?!README|CHANGELOG)[A-Z]{2,}(?![A-Za-z])")  # NAME.cpp
# What users have, and what other projects call theirs.
OF_OTHERS = {"setup.py", "pyproject.toml", "requirements*.txt", "x.ipynb", "build/", "ggml.c", "attention_kernels.cuh", "AveragePool3d.cpp"}
FOLDERS_OF_OTHERS = ("ATen/", "c10/", "torch/")


def private_words(name, text):
    for number, line in enumerate(text.splitlines(), 1):
        for found in PRIVATE_WORD.findall(line):
            yield f"{name}:{number}: '{found}' in '{line.strip()}': write {PRIVATE[found.lower()]}"


def own_clocks(name, text):
    if name.startswith("tests/") and not name.startswith(BY_CLOCK):
        for number, line in enumerate(text.splitlines(), 1):
            if CLOCK.search(line):
                yield f"{name}:{number}: a limit in wall-clock time: {line.strip()}: leave it to the runner's TIMEOUT"


def page_size(name, size):
    limit = PAGE_LIMITS.get(name, PAGE_KB)
    if size > limit * KB:
        yield f"{name}: {size} bytes; keep a page within {limit} KB: a subject each, beside what it describes"
    elif limit > PAGE_KB and size <= (limit - 1) * KB:
        yield f"{name}: {size} bytes, and its limit in PAGE_LIMITS is {limit} KB: lower it, a page only shrinks"


def dead_links(name, text, is_there):
    for number, line in enumerate(text.splitlines(), 1):
        for target in LINK.findall(line):
            if "://" not in target and not is_there(target):
                yield f"{name}:{number}: links to '{target}', which is not there"


def written_out(named):
    """Each name that one with {a,b} stands for."""
    found = re.search(r"\{([^{}]*)\}", named)
    return [each for part in found.group(1).split(",") for each in written_out(named[:found.start()] + part + named[found.end():])
            ] if found else [named]


def gone_files(name, text, there):
    """there: files and folders from the root. By its end, or from the page's folder."""
    for number, line in enumerate(text.splitlines(), 1):
        for named in NAMED.findall(line):
            if named in OF_OTHERS or named.startswith((*FOLDERS_OF_OTHERS, ".")) and "../" not in named or STANDS_FOR_ANY.search(named):
                continue
            for each in written_out(named):
                from_page = posixpath.normpath(posixpath.join(posixpath.dirname(name), each))
                ends = [each.rstrip("/"), "*/" + each.rstrip("/"), from_page]
                if there.isdisjoint(ends) and not any(file.endswith(ends[1][1:]) if "*" not in each else fnmatch.fnmatch(file, end)
                                                      for file in there for end in (ends if "*" in each else ends[:1])):
                    yield f"{name}:{number}: names '{each}', which is not there"


def top_level(names):
    for name in sorted({name.split("/")[0] for name in names} - TOP):
        if not name.startswith("."):
            yield f"{name}: stands at the top, where the layout has {', '.join(sorted(TOP))}: put it into the folder that uses it"


def pages():
    sizes = {str(path.relative_to(ROOT)): path.stat().st_size for path in tracked("*.md")}
    wrong = [line for name, size in sizes.items() for line in page_size(name, size)]
    files = [str(path.relative_to(ROOT)) for path in tracked()]
    there = {*files, *(file.rsplit("/", up)[0] for file in files for up in range(1, file.count("/") + 1))}
    for name in sizes:
        page = ROOT / name
        text = page.read_text(encoding="utf-8")
        wrong += dead_links(name, text, lambda target: (page.parent / target).exists())
        wrong += gone_files(name, text, there)
    return wrong + [f"{name}: in PAGE_LIMITS, and is no page" for name in PAGE_LIMITS if name not in sizes]


def plain_words():
    wrong = []
    for path in tracked(*PLAIN):
        name = str(path.relative_to(ROOT))
        if name.startswith(OWN_WORDS):
            continue
        try:
            wrong += private_words(name, path.read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            continue
    return wrong


def main():
    wrong = pages() + plain_words() + list(top_level(str(path.relative_to(ROOT)) for path in tracked()))
    for path in tracked(*SOURCES):
        name = path.relative_to(ROOT)
        text = path.read_text(encoding="utf-8")
        count = text.count("\n")
        wrong += own_clocks(str(name), text)
        if count >= LINES:
            wrong.append(f"{name}: {count} lines; keep a file under {LINES}")
        for number, line in enumerate(text.splitlines(), 1):
            if HOME.search(line):
                wrong.append(f"{name}:{number}: names a folder of one machine: {line.strip()}")
            if UNFINISHED.search(line):
                wrong.append(f"{name}:{number}: unfinished: {line.strip()}")
    wrong += [f"{folder}/README.md is missing: each folder opens with what it is for"
              for folder in FOLDERS if not (ROOT / folder / "README.md").is_file()]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
