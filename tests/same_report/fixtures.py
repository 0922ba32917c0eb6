"""The sources of this repository that dtype-lint is tested on, each with the flags that it is read with."""
import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
MINI_TORCH = ROOT / "tests/unit/clang/mini_torch.h"


@dataclasses.dataclass(frozen=True)
class Fixture:
    source: pathlib.Path
    flags: tuple

    @property
    def is_python(self):
        return self.source.suffix == ".py"

    @property
    def name(self):
        return str(self.source.relative_to(ROOT)).replace("/", "+")


def standard(path):
    named = re.search(r"^// standard: (\S+)$", path.read_text(encoding="utf-8"), re.M)
    return f"-std={named.group(1) if named else 'c++17'}"


def libtorch(include):
    """Flags for a folder of libtorch's headers; the system's own needs no folder before its others."""
    flags = ["-std=c++20", "-isystem", str(include / "torch/csrc/api/include")]
    return [*flags, "-isystem", str(include)] if include != pathlib.Path("/usr/include") else flags


def fixtures(torch=None):
    """All that can be read here; what needs libtorch's headers only with `torch`, the folder that has them."""
    found = [Fixture(path, (standard(path), "-include", str(MINI_TORCH)))
             for path in sorted((ROOT / "tests/golden/lint").rglob("*.cpp"))]
    found += [Fixture(path, ("-std=c++17", "--cuda-path=/nowhere"))
              for path in sorted((ROOT / "tests/golden/constructs").glob("*.cu")) if path.name != "aten.cu"]
    if torch:
        found += [Fixture(path, tuple(libtorch(torch)))
                  for path in sorted((ROOT / "tests/golden/constructs").glob("*.cpp"))]
        found += [Fixture(path, (*libtorch(torch), "-I", str(ROOT / "kernels/include"), "-I", str(ROOT)))
                  for path in sorted((ROOT / "examples").glob("*/*.cpp"))]
    return found + [Fixture(path, ()) for folder in ("tests/golden/python/bugs", "tests/golden/python/constructs", "examples")
                    for path in sorted((ROOT / folder).rglob("*.py")) if path.name != "demo.py"]
