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
BOX_WIDTH, BOX_HEIGHT = 140, 44

# name: middle of the box, what stands in it, and the folder that does it (none: it is not part of this repository)
PARTS = {
    "python": ((85, 40), "Python sources", None),
    "cpp": ((85, 100), "C++ and CUDA sources", None),
    "job": ((85, 240), "a running job", None),
    "front_python": ((260, 40), "front end", "analyzer/python"),
    "front_clang": ((260, 100), "front end on Clang", "analyzer/clang"),
    "flow": ((435, 70), "engine on the IR", "analyzer/flow"),
    "sources": ((260, 240), "sources", "sanitizer/sources"),
    "journal": ((435, 240), "journal", "sanitizer/journal"),
    "symbolize": ((610, 240), "symbols, findings", "sanitizer/symbolize"),
    "rules": ((435, 155), "dtypes, operators, contracts", "rules"),
    "lint": ((610, 70), "dtype-lint", "analyzer/driver"),
    "san": ((780, 240), "dtype-san", "sanitizer/launcher"),
    "report": ((780, 155), "report", "rules/report"),
}
WIDE = {"rules": 220, "cpp": 156, "report": 120, "san": 120}
# from, to, what is handed on, and the folder that both know it from where neither includes the other
ARROWS = [
    ("python", "front_python", "", None),
    ("cpp", "front_clang", "", None),
    ("front_python", "flow", "", None),
    ("front_clang", "flow", "", None),
    ("flow", "lint", "", None),
    ("job", "sources", "", None),
    ("sources", "journal", "", None),
    ("journal", "symbolize", "", "sanitizer/protocol"),
    ("symbolize", "san", "", None),
    ("rules", "flow", "", None),
    ("rules", "sources", "", None),
    ("rules", "symbolize", "", None),
    ("lint", "report", "findings", None),
    ("san", "report", "findings", None),
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
    for start, end, label, _ in ARROWS:
        lines += arrow(start, end, label)
    for name in PARTS:
        lines += box(name)
    return "\n".join([*lines, "</svg>", ""])


def includes(root, folder, other):
    return any(f'#include "{other}/' in file.read_text(encoding="utf-8") for file in (root / folder).rglob("*")
               if file.suffix in (".h", ".cpp", ".inc"))


def is_handed_on(root, start, end, by):
    """One part of this repository includes the other, or both what stands between them."""
    here, there = PARTS[start][2], PARTS[end][2]
    if here is None or there is None:
        return True
    if by:
        return includes(root, here, by) and includes(root, there, by)
    return includes(root, here, there) or includes(root, there, here)


def wrong(text, root):
    """What the file, the folders and their includes say against it."""
    out = [f"{folder}: the picture has it, and there is no such folder" for _, _, folder in PARTS.values()
           if folder and not (root / folder).is_dir()]
    out += [f"{start} to {end}: the picture has an arrow, and neither includes the other" for start, end, _, by in ARROWS
            if not is_handed_on(root, start, end, by)]
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
