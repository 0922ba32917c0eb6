"""The version of the project: it stands in CMakeLists.txt and nowhere else is it decided."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def project_version(root=ROOT):
    found = re.search(r"^project\(dtype_guard VERSION (\d+\.\d+\.\d+) ", (root / "CMakeLists.txt").read_text(), re.M)
    if not found:
        raise ValueError(f"{root / 'CMakeLists.txt'}: no project(dtype_guard VERSION X.Y.Z ...)")
    return found[1]
