"""`python -m dtype_guard lint ...` and `python -m dtype_guard san ...` run the programs of this package."""
import os
import sys

from . import __version__
from ._programs import ProgramMissing, program

USAGE = """\
usage: python -m dtype_guard lint ...     dtype-lint: looks at source files before they run
       python -m dtype_guard san ...      dtype-san: watches a process while it runs
       python -m dtype_guard --version

examples:
  python -m dtype_guard lint src/
  python -m dtype_guard san run -- python train.py
  python -m dtype_guard lint --help
"""


def main(arguments):
    if arguments[:1] == ["--version"]:
        print(f"dtype-guard {__version__}")
        return 0
    if arguments[:1] in (["-h"], ["--help"]):
        print(USAGE, end="")
        return 0
    if not arguments or arguments[0] not in ("lint", "san"):
        found = repr(arguments[0]) if arguments else "nothing"
        print(f"dtype_guard: {found} is no command, expected lint or san\n{USAGE}", end="", file=sys.stderr)
        return 2
    try:
        path = program(f"dtype-{arguments[0]}")
        sys.stdout.flush()
        os.execv(path, [path, *arguments[1:]])
    except ProgramMissing as problem:
        print(f"dtype_guard: {problem}", file=sys.stderr)
    except OSError as problem:
        print(f"dtype_guard: {path} cannot be run: {problem.strerror}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
