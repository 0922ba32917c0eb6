"""Runs the cells of the stored notebooks with PyTorch, each as far as it is Python: the wrong one is refused by the attention
call of the cell that its finding names, the right one runs to its end.

    notebooks_truth.py      exits with 77 (skipped) where PyTorch is missing
"""
import json
import pathlib
import sys

try:
    import torch  # noqa: F401
except ImportError as error:
    print(f"skipped: {sys.executable} has no PyTorch: {error}")
    sys.exit(77)

FOLDER = pathlib.Path(__file__).resolve().parent / "notebooks"
NOT_PYTHON = ("%", "!", "?")


def python_of(source):
    """What IPython would run as Python: by hand, apart from the reader that is tested."""
    if source.startswith("%%") and not source.startswith("%%time"):
        return ""
    lines = [line for line in source.splitlines() if not line.startswith(NOT_PYTHON) and not line.endswith("?") and " = !" not in line]
    return "\n".join(lines)


def refused_in(path):
    """The number of the cell that PyTorch refuses, and its word; nothing where all run."""
    names = {}
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"], 1):
        if cell["cell_type"] != "code":
            continue
        try:
            exec(compile(python_of("".join(cell["source"])), f"cell {number}", "exec"), names)
        except RuntimeError as error:
            return number, str(error)
    assert names["out"].dtype == torch.bfloat16
    return None


bad = refused_in(FOLDER / "qk_norm_bad.ipynb")
assert bad and bad[0] == 7 and "dtype" in bad[1], bad
assert refused_in(FOLDER / "qk_norm_ok.ipynb") is None
print(f"the wrong notebook is refused: {bad[1].splitlines()[0]}; the right one runs")
