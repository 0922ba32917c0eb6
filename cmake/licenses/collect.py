#!/usr/bin/env python3
"""Writes the terms of the libraries that a part carries (carried.tsv) into a folder: NOTICE.txt and one file each.

    collect.py PART FOLDER BUILD

BUILD/generated/licenses/build.txt says what the build has (cmake/Licenses.cmake).
"""
import argparse
import pathlib
import shutil

HERE = pathlib.Path(__file__).resolve().parent
DOC = pathlib.Path("/usr/share/doc")
COMMON = pathlib.Path("/usr/share/common-licenses")
MISSING = "Not on the machine that built it"
NOTICE = """\
{part} of dtype-guard is under the Apache License, Version 2.0. It carries parts of these libraries, whose terms stand in the files
beside this one:

{rows}
"""
RELINK = """
libdw and libelf are used under the GNU Lesser General Public License, version 3 or later, and are linked statically. Their source is
that of Debian's package elfutils. To have the program with a changed libdw or libelf: take the source of this version of dtype-guard,
install the changed static libraries in their place, and run `make build`.
"""


def table():
    rows = [line.split("\t") for line in (HERE / "carried.tsv").read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def had_by(build):
    """What the build has: releases by name, "" for what it was made without."""
    lines = (build / "generated" / "licenses" / "build.txt").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


def source_of(row, build, has):
    place = row["from"].format(**has)
    if place.startswith("file:"):
        return next(iter(sorted(build.glob(place[len("file:"):]))), None)
    terms = DOC / place / "copyright"
    return terms if terms.is_file() else None


def collect(part, folder, build, has):
    """What could not be found."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    lines, missing = [], []
    for row in table():
        if part not in row["parts"].split(",") or not has.get(row["when"], "yes"):
            continue
        source = source_of(row, build, has)
        if source is None:
            missing.append(row["library"])
            continue
        name = "".join(each if each.isalnum() or each in "+-." else "_" for each in row["library"]) + ".txt"
        shutil.copyfile(source, folder / name)
        lines.append(f"  {row['library']}: {row['terms']} ({name})")
        for text in row["texts"].split(","):
            if text != "-" and (COMMON / text).is_file():
                shutil.copyfile(COMMON / text, folder / f"{text}.txt")
            elif text != "-":
                missing.append(text)
    text = NOTICE.format(part=part, rows="\n".join(lines))
    if part == "dtype-san":
        text += RELINK
    if missing:
        text += f"\n{MISSING}: {', '.join(sorted(set(missing)))}.\n"
    (folder / "NOTICE.txt").write_text(text, encoding="utf-8")
    return missing


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    options = parser.parse_args()
    collect(options.part, options.folder, options.build, had_by(options.build))


if __name__ == "__main__":
    main()
