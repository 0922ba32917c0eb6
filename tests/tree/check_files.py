#!/usr/bin/env python3
"""Source files stay under 400 lines, folders explain themselves, and no file names a place of somebody's machine."""
import re
import sys

from tracked import ROOT, tracked

LINES = 400
SOURCES = ("*.cpp", "*.h", "*.c", "*.cu", "*.cuh", "*.py", "*.cmake", "*.sh", "*CMakeLists.txt")
FOLDERS = ("rules", "kernels", "analyzer", "sanitizer", "tests", "examples")
HOME = re.compile(r"(?<![\w.$}])/(?:home|root|Users)/[a-z]\w*/")
UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")


def main():
    wrong = []
    for path in tracked(*SOURCES):
        name = path.relative_to(ROOT)
        text = path.read_text(encoding="utf-8")
        count = text.count("\n")
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
