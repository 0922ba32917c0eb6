"""Where the programs of this package lie: inside it, wherever an installer has put it."""
import pathlib

NAMES = ("dtype-lint", "dtype-san")


class ProgramMissing(FileNotFoundError):
    """A program is not in this package."""


def program(name):
    """The path of `name`, "dtype-lint" or "dtype-san", as a str. Raises ValueError for another name, ProgramMissing."""
    if name not in NAMES:
        raise ValueError(f"name: {name!r} is no program of dtype-guard, expected one of {', '.join(NAMES)}")
    path = pathlib.Path(__file__).resolve().parent / "installed" / "bin" / name
    if not path.is_file():
        raise ProgramMissing(f"{path} is missing; install dtype-guard again")
    return str(path)
