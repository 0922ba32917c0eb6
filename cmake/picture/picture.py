#!/usr/bin/env python3
"""Draws the picture of the README: which part hands what to which. `picture.py` writes parts.svg beside itself; `picture.py
--check` says whether that file is what it would write, and whether each part is where the picture says."""
import html
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FILE = HERE / "parts.svg"

WIDTH, HEIGHT = 860, 300
BOX_WIDTH, BOX_HEIGHT = 150, 44

# name: middle of the box, what stands in it, and the folder that does it (none: it is not part of this repository)
PARTS = {
    "python": ((90, 40), "Python sources", None),
    "cpp": ((90, 100), "C++ and CUDA sources", None),
    "job": ((90, 240), "a running job", None),
    "front_python": ((280, 40), "front end", "analyzer/python"),
    "front_clang": ((280, 100), "front end on Clang", "analyzer/clang"),
    "flow": ((470, 70), "engine on the IR", "analyzer/flow"),
    "sources": ((280, 240), "sources", "sanitizer/sources"),
    "journal": ((470, 240), "journal", "sanitizer/journal"),
    "rules": ((470, 155), "dtypes, operators, contracts", "rules"),
    "lint": ((660, 70), "dtype-lint", "analyzer/driver"),
    "san": ((660, 240), "dtype-san", "sanitizer/launcher"),
    "report": ((785, 155), "report", "rules/report"),
}
WIDE = {"rules": 210, "cpp": 160, "report": 100}
# from, to, and what is handed on
ARROWS = [
    ("python", "front_python", ""),
    ("cpp", "front_clang", ""),
    ("front_python", "flow", ""),
    ("front_clang", "flow", ""),
    ("flow", "lint", ""),
    ("job", "sources", ""),
    ("sources", "journal", ""),
    ("journal", "san", ""),
    ("rules", "flow", ""),
    ("rules", "journal", ""),
    ("lint", "report", "findings"),
    ("san", "report", "findings"),
]


def width(name):
    return WIDE.get(name, BOX_WIDTH)


def edge(name, towards):
    """Where the line to another part leaves the box."""
    (x, y), (there_x, there_y) = PARTS[name][0], PARTS[towards][0]
    if abs(there_x - x) > (width(name) + width(towards)) / 2:
        return x + (width(name) / 2 if there_x > x else -width(name) / 2), y
    return x, y + (BOX_HEIGHT / 2 if there_y > y else -BOX_HEIGHT / 2)


def box(name):
    (x, y), text, folder = PARTS[name]
    left, top = x - width(name) / 2, y - BOX_HEIGHT / 2
    fill = "#eef3fb" if folder else "#ffffff"
    dashes = "" if folder else ' stroke-dasharray="4 3"'
    lines = [f'<rect x="{left:g}" y="{top:g}" width="{width(name)}" height="{BOX_HEIGHT}" rx="6" fill="{fill}" '
             f'stroke="#4a6fa5"{dashes}/>']
    lines.append(f'<text x="{x}" y="{y - 3 if folder else y + 4}" text-anchor="middle">{html.escape(text)}</text>')
    if folder:
        lines.append(f'<text x="{x}" y="{y + 13}" text-anchor="middle" class="folder">{folder}/</text>')
    return lines


def arrow(start, end, label):
    (x1, y1), (x2, y2) = edge(start, end), edge(end, start)
    lines = [f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="#555" marker-end="url(#head)"/>']
    if label:
        lines.append(f'<text x="{(x1 + x2) / 2 + 8:g}" y="{(y1 + y2) / 2:g}" class="folder">{html.escape(label)}</text>')
    return lines


def picture():
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
             "<title>How sources and running jobs become one report</title>",
             "<style>.folder { font-size: 10px; fill: #555 }</style>",
             '<defs><marker id="head" markerWidth="8" markerHeight="6" refX="8" refY="3" orient="auto">'
             '<path d="M0 0 L8 3 L0 6 z" fill="#555"/></marker></defs>',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>']
    for each in ARROWS:
        lines += arrow(*each)
    for name in PARTS:
        lines += box(name)
    return "\n".join([*lines, "</svg>", ""])


def wrong(text, root):
    """What the file and the folders say against it."""
    out = [f"{folder}: the picture has it, and there is no such folder" for _, _, folder in PARTS.values()
           if folder and not (root / folder).is_dir()]
    if text != picture():
        out.append(f"{FILE.relative_to(ROOT)} is not what picture.py draws: run cmake/picture/picture.py")
    return out


def main():
    if "--check" not in sys.argv[1:]:
        FILE.write_text(picture(), encoding="utf-8")
        return 0
    problems = wrong(FILE.read_text(encoding="utf-8") if FILE.is_file() else "", ROOT)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
