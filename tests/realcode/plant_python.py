"""Plants dtype bugs in the Python files of other people's repositories, keeps those that PyTorch sees at an attention call, and
counts how many dtype-lint finds.

    plant_python.py --tool DTYPE_LINT --python PYTHON_WITH_TORCH --repositories DIR [--count N] [--seed S] [--each N]
                    [--drawn N] [--half shown|held-back|both] [--record FILE]

A plant takes a cast away (`.to(q.dtype)`, `.type_as(x)`) or puts a promotion before an attention call: a scale, a norm, a
cache or a table in float32. It is kept where a module of the file runs with it (observe_modules.py) and other dtypes than
before arrive at a call, or PyTorch refuses them there (settings.py has the sizes of what it is made with). Half of the repositories, by a hash of their names, are held back.

Found: a definite finding that the file without the plant does not have, whose place or way passes the planted line (two lines
of tolerance) or that ends in a call whose operands changed. Exact: its place is the planted line.
"""
import argparse
import ast
import collections
import hashlib
import json
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CALLS = ("scaled_dot_product_attention", "matmul", "bmm", "einsum")
PROMOTIONS = {
    "scale": "{n} * torch.full((1,), 0.5, device={n}.device)",
    "norm": "torch.nn.functional.layer_norm({n}.float(), {n}.shape[-1:])",
    "cache": "torch.cat((torch.zeros_like({n}[..., :1, :], dtype=torch.float32), {n}[..., 1:, :]), dim=-2)",
    "table": "{n} * torch.linspace(0, 1, {n}.shape[-1], device={n}.device).cos()",
}
Plant = collections.namedtuple("Plant", "kind line source")


def is_cast(node):
    """Back to a dtype that something else has."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    given = [*node.args, *(each.value for each in node.keywords)]
    if node.func.attr == "type_as":
        return True
    return node.func.attr in ("to", "type") and any(
        "dtype" in ast.unparse(each) and "float32" not in ast.unparse(each) for each in given)


def is_attention(node):
    name = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else \
        node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    return name in CALLS or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult))


def operands(node):
    given = [node.left, node.right] if isinstance(node, ast.BinOp) else node.args
    return [each.id for each in given if isinstance(each, ast.Name)]


def statements_of_attention(tree):
    """Those of classes and functions that call attention, or have a softmax beside their products and are no experts' router."""
    for each in tree.body:
        words = ast.unparse(each).lower()
        by_hand = "softmax" in words and "expert" not in words
        if isinstance(each, (ast.ClassDef, ast.FunctionDef)) and (CALLS[0] in words or by_hand):
            yield from (one for one in ast.walk(each) if isinstance(one, (ast.Assign, ast.Return, ast.Expr)))


def plants_in(text):
    """Each as the whole file's text with it."""
    lines = text.split("\n")
    if not re.search(r"^import torch$", text, re.M) or not text.isascii():
        return
    for node in ast.walk(ast.parse(text)):
        if is_cast(node) and node.end_lineno == node.func.end_lineno:
            at, dot = node.end_lineno - 1, node.func.end_col_offset - len(f".{node.func.attr}")
            changed = lines[at][:dot] + lines[at][node.end_col_offset:]
            yield Plant("cast", node.end_lineno, "\n".join([*lines[:at], changed, *lines[at + 1:]]))
    for statement in statements_of_attention(ast.parse(text)):
        at = statement.lineno - 1
        if lines[at][:statement.col_offset].strip():
            continue
        names = sorted({name for node in ast.walk(statement) if is_attention(node) for name in operands(node)})
        for name in names:
            for kind, promotion in PROMOTIONS.items():
                start = lines[at][:statement.col_offset]
                changed = f"{start}{name} = {promotion.format(n=name)}; {lines[at].lstrip()}"
                yield Plant(kind, statement.lineno, "\n".join([*lines[:at], changed, *lines[at + 1:]]))


def limited():
    """Seconds of processor time."""
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


def observed(python, root, path, variants):
    request = json.dumps({"variants": variants})
    command = [python, "-W", "ignore", str(HERE / "observe_modules.py"), str(root), str(path)]
    run = subprocess.run(command, input=request, capture_output=True, text=True, preexec_fn=limited)
    try:
        return json.loads(run.stdout)
    except ValueError:
        return {}


def changed_calls(before, after):
    """Lines of the calls, in a class that runs in both, to which other dtypes come; those behind a refusal are not reached."""
    out = set()
    for kind, calls in before.items() if "" not in before else []:  # else the file did not load
        for old, new in zip(calls or [], after.get(kind) or []):
            if old[:2] == new[:2] and (old[2] != new[2] or (new[3] and not old[3])):
                out.add(new[0])
    return out


def top_of(path):
    """Above its packages: those with an __init__.py, and as many as its relative imports go up."""
    levels = re.findall(r"^[ \t]*from[ \t]+(\.+)", path.read_text(encoding="utf-8", errors="replace"), re.M)
    top, left = path.parent, max((len(each) for each in levels), default=0)
    while left > 0 or (top / "__init__.py").exists():
        top, left = top.parent, left - 1
    return top


def needed_files(top, path):
    """The file and those of its project that it imports, some levels deep."""
    found, work = [path], [path]
    while work and len(found) < 24:
        now = work.pop(0)
        try:
            tree = ast.parse(now.read_text(encoding="utf-8", errors="replace"))
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom):
                continue
            base = top if not node.level else now.parents[node.level - 1]
            stem = base.joinpath(*(node.module or "").split("."))
            for each in [stem.with_suffix(".py"), stem / "__init__.py", *(stem / f"{one.name}.py" for one in node.names)]:
                if each.is_file() and each not in found and len(found) < 24:
                    found.append(each)
                    work.append(each)
    return found


def findings(tool, top, files, path, source):
    with tempfile.TemporaryDirectory() as folder:
        for each in files:
            to = pathlib.Path(folder) / each.relative_to(top)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(each, to)
        (pathlib.Path(folder) / path.relative_to(top)).write_text(source, encoding="utf-8")
        report = pathlib.Path(folder) / "report.json"
        command = [tool, "--no-cache", "--strict", "--root", folder, f"--format=json={report}",
                   *(str(pathlib.Path(folder) / each.relative_to(top)) for each in files)]
        subprocess.run(command, capture_output=True, text=True, preexec_fn=limited, cwd=folder)
        if not report.is_file():
            return None
        said = json.loads(report.read_text(encoding="utf-8"))
    place = str(path.relative_to(top))
    out = []
    for each in said["findings"]:
        if each["level"] == "note" or each["certainty"] != "definite":
            continue
        ways = [each["location"], *each["path"]]
        out.append({"rule": each["rule"], "at": [each["location"]["file"], each["location"]["line"]],
                    "lines": sorted({one["line"] for one in ways if one["file"] == place}),
                    "here": each["location"]["file"] == place})
    return out, [one.get("detail", "") for one in said["not_analysed"] if one["file"] == place]


def judged(plant, calls, before, after):
    """exact, found or missed."""
    known = {(tuple(each["at"]), each["rule"]) for each in before}
    verdict = "missed"
    for each in after:
        if (tuple(each["at"]), each["rule"]) in known:
            continue
        if each["here"] and abs(each["at"][1] - plant.line) <= 2:
            return "exact"
        if any(abs(line - plant.line) <= 2 or line in calls for line in each["lines"]):
            verdict = "found"
    return verdict


def is_held_back(name):
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 1


def candidates(repository):
    for path in sorted(repository.rglob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        if any(each in text for each in (*CALLS, " @ ")) and "forward" in text and "test" not in str(path.relative_to(repository)):
            yield path


def plants_of(repository, options, draw):
    """Up to as many as asked for, a few of a file and kind, each with what is found."""
    paths = list(candidates(repository))
    draw.shuffle(paths)
    kept, tried = [], 0
    for path in paths:
        if len(kept) >= options.each or tried >= options.files:
            break
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            drawn = list(plants_in(text))
        except SyntaxError:
            continue
        by_kind = collections.defaultdict(list)
        for each in drawn:
            by_kind[each.kind].append(each)
        chosen = [each for kind in sorted(by_kind) for each in draw.sample(by_kind[kind], min(options.drawn, len(by_kind[kind])))]
        if not chosen:
            continue
        tried += 1
        ran = observed(options.python, repository, path, {"": text, **{str(i): each.source for i, each in enumerate(chosen)}})
        seen = [(each, changed_calls(ran.get("", {}), ran.get(str(i), {}))) for i, each in enumerate(chosen)]
        seen = [(each, calls) for each, calls in seen if calls]
        if not seen:
            continue
        top = top_of(path)
        files = needed_files(top, path)
        before = findings(options.tool, top, files, path, text)
        for plant, calls in seen:
            after = findings(options.tool, top, files, path, plant.source)
            if len(kept) >= options.each or not before or not after:
                break
            kept.append({"repository": repository.name, "file": str(path.relative_to(repository)), "line": plant.line,
                         "kind": plant.kind, "calls": sorted(calls), "verdict": judged(plant, calls, before[0], after[0]),
                         "undecided": after[1][:3], "before": len(before[0])})
            print(json.dumps(kept[-1]), flush=True)
    return kept


def table(kept):
    def row(name, some):
        count = collections.Counter(each["verdict"] for each in some)
        found = count["exact"] + count["found"]
        return f"{name:12} {len(some):6} {found:6} {count['exact']:6} {found / max(1, len(some)):7.2f}"
    out = [f"{'':12} plants  found  exact  recall"]
    for half in (False, True):
        some = [each for each in kept if is_held_back(each["repository"]) == half]
        out.append(row("held back" if half else "shown", some))
    for kind in sorted({each["kind"] for each in kept}):
        out.append(row(kind, [each for each in kept if each["kind"] == kind]))
    files = {(each["repository"], each["file"]): each["before"] for each in kept}
    out.append(f"{sum(files.values())} definite findings in {len(files)} unplanted files of {len({each['repository'] for each in kept})} repositories")
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--repositories", required=True, type=pathlib.Path, nargs="+")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--each", type=int, default=6, help="of one repository")
    parser.add_argument("--drawn", type=int, default=1, help="of one file and kind")
    parser.add_argument("--files", type=int, default=12, help="of one repository that are run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--half", choices=("shown", "held-back", "both"), default="shown")
    parser.add_argument("--record", type=pathlib.Path)
    options = parser.parse_args()
    options.tool = str(pathlib.Path(options.tool).resolve())
    kept = []
    for repository in sorted(each for folder in options.repositories for each in folder.iterdir() if each.is_dir()):
        if len(kept) >= options.count:
            break
        if options.half != "both" and is_held_back(repository.name) != (options.half == "held-back"):
            continue
        draw = random.Random(f"{options.seed} {repository.name}")
        kept += plants_of(repository.resolve(), options, draw)
    print(table(kept))
    if options.record:
        options.record.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
