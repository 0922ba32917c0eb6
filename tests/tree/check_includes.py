#!/usr/bin/env python3
"""Each #include is one that includes.json allows, and no units include each other in a circle.

A unit is a header and the source of the same name beside it. A file belongs to the row of the longest folder that
holds it; `*` stands for each folder there, and these may not include one another. A row may include itself and the
rows that it names, no more: nothing is inherited. Rows form no circle either. Circles that are left stand in the
table by name; that list may only shrink, and a circle that has lost a unit must lose it there too."""
import json
import pathlib
import re
import sys

from tracked import ROOT, tracked

TABLE = pathlib.Path(__file__).with_name("includes.json")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.M)
JOINED = {".h", ".cpp", ".c", ".cu", ".cuh"}
PATTERNS = [f"*{suffix}" for suffix in (*sorted(JOINED), ".inc")]


def within(folder, row):
    """Whether the row's folder is this one or holds it."""
    have, want = folder.split("/"), row.split("/")
    return len(have) >= len(want) and all(w in ("*", h) for h, w in zip(have, want))


def place_in(name, row):
    """The folder that a row with `*` stands for."""
    return name.split("/")[: row.count("/") + 1] if row and "*" in row else row


class Tree:
    def __init__(self, table, texts):
        self.table, self.texts = table, texts
        self.rows = {name: self.row_of(name) for name in texts}
        self.edges, self.wrong = [], []  # (file, line, included file)
        for name, text in sorted(texts.items()):
            for match in INCLUDE.finditer(text):
                self.add(name, text.count("\n", 0, match.start()) + 1, *match.groups())

    def row_of(self, name):
        folder = name.rpartition("/")[0]
        fitting = [row for row in self.table["folders"] if within(folder, row)]
        return max(fitting, key=lambda row: (row.count("/"), "*" not in row), default=None)

    def add(self, name, line, quoted, angled):
        written = quoted or angled
        beside = pathlib.PurePosixPath(name).parent / written
        places = [str(pathlib.PurePosixPath(root) / written) for root in ("", *self.table["include_roots"])]
        parts = []
        for part in beside.parts:
            parts = parts[:-1] if part == ".." else [*parts, part]
        if quoted:
            places.insert(0, "/".join(parts))
        found = next((place for place in places if place in self.texts), None)
        if found:
            self.edges.append((name, line, found))
        elif quoted and written not in self.table["made_by_the_build"]:
            self.wrong.append(f'{name}:{line}: "{quoted}" is no file of this tree; what the build makes stands in '
                              f'"made_by_the_build" of {TABLE.name}')

    def unit_of(self, name):
        path = pathlib.PurePosixPath(name)
        return str(path.with_suffix("")) if path.suffix in JOINED else name

    def unit_graph(self):
        graph = {self.unit_of(name): set() for name in self.texts}
        for name, _, target in self.edges:
            if self.unit_of(name) != self.unit_of(target):
                graph[self.unit_of(name)].add(self.unit_of(target))
        return graph


def circles(graph):
    """The strongly connected components of more than one node (Tarjan's, with a stack of its own)."""
    index, low, held, stack, found = {}, {}, set(), [], []
    for start in sorted(graph):
        work = [] if start in index else [(start, None)]
        while work:
            node, rest = work[-1]
            if rest is None:
                index[node] = low[node] = len(index)
                stack.append(node)
                held.add(node)
                rest = iter(sorted(graph[node]))
                work[-1] = (node, rest)
            child = next(rest, None)
            if child is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    at = stack.index(node)
                    held.difference_update(stack[at:])
                    if len(stack) - at > 1:
                        found.append(frozenset(stack[at:]))
                    del stack[at:]
            elif child not in index:
                work.append((child, None))
            elif child in held:
                low[node] = min(low[node], index[child])
    return found


def hold_against(found, known, what):
    wrong = []
    left = [frozenset(names) for names in known]
    for circle in sorted(found, key=sorted):
        if circle in left:
            left.remove(circle)
            continue
        larger = next((one for one in left if circle < one), None)
        if larger:
            left.remove(larger)
            wrong.append(f"a circle of {what} has shrunk, well done: take {', '.join(sorted(larger - circle))} out of "
                         f"{TABLE.name}")
        else:
            wrong.append(f"{len(circle)} {what} include each other in a circle: {', '.join(sorted(circle))}")
    for gone in left:
        wrong.append(f"these {what} form no circle any more, well done: take them out of {TABLE.name}: "
                     f"{', '.join(sorted(gone))}")
    return wrong


def check(table, texts):
    tree = Tree(table, texts)
    wrong = tree.wrong
    folders = table["folders"]
    for row, allowed in folders.items():
        if row not in tree.rows.values():
            wrong.append(f"{TABLE.name}: no file belongs to {row}: take the row out")
        wrong += [f"{TABLE.name}: {row} names {name}, which has no row" for name in allowed if name not in folders]
    wrong += [f"{name}: its folder has no row in {TABLE.name}" for name, row in sorted(tree.rows.items()) if row is None]
    for name, line, target in tree.edges:
        from_row, to_row = tree.rows[name], tree.rows[target]
        beside = from_row == to_row and place_in(name, from_row) != place_in(target, to_row)
        if from_row and to_row and (from_row != to_row or beside) and to_row not in folders[from_row]:
            wrong.append(f'{name}:{line}: includes "{target}", but {from_row} may not include {to_row if not beside else "another of them"}')
    wrong += hold_against(circles(tree.unit_graph()), table["known_circles"], "units")
    rows = {row: {name for name in allowed if name in folders} for row, allowed in folders.items()}
    wrong += hold_against(circles(rows), table["known_circles_of_folders"], "folders")
    return wrong


def main():
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in tracked(*PATTERNS)}
    apart = tuple(f"{folder}/" for folder in table["not_code_of_the_project"])
    wrong = check(table, {name: text for name, text in texts.items() if not name.startswith(apart)})
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
