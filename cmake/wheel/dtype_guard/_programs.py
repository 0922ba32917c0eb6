"""Where the programs of this package lie: beside the interpreter that it was installed for."""
import pathlib
import sys
import sysconfig

NAMES = ("dtype-lint", "dtype-san")


class ProgramMissing(FileNotFoundError):
    """A program of this package is in none of the folders in which an installer puts programs."""


def _folders():
    """The folders of an environment, of the user, and of `pip install --target`."""
    yield pathlib.Path(sysconfig.get_path("scripts"))
    yield pathlib.Path(sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user")))
    yield pathlib.Path(__file__).resolve().parents[1] / "bin"
    yield pathlib.Path(sys.prefix) / "bin"


def program(name):
    """The path of `name`, "dtype-lint" or "dtype-san", as a str. Raises ValueError for another name, ProgramMissing."""
    if name not in NAMES:
        raise ValueError(f"name: {name!r} is no program of dtype-guard, expected one of {', '.join(NAMES)}")
    tried = []
    for folder in _folders():
        path = folder / name
        if path.is_file():
            return str(path)
        if str(folder) not in tried:
            tried.append(str(folder))
    raise ProgramMissing(f"{name} is not in {', '.join(tried)}; install dtype-guard again")
