"""Whether two builds of dtype-lint say the same of every fixture of this repository, for changes that must not show.

    same_report.py OLD NEW --stored DIR [--torch INCLUDE] [--engine] [-j N]

OLD and NEW are build folders with dtype-lint and evaluate_ir in them. Every fixture is lowered by OLD and by NEW: the
IR has to be the same text. That of OLD is kept in DIR and taken from there the next time; what `dtype-lint --dump-flow`
printed of other people's code is compared as well where it lies as *.flow below DIR/foreign. Both evaluate_ir then
answer all that can be asked of each: findings, possible ones, fixes, refusals, roots that were given up, steps. With --engine NEW lowers nothing, which is enough where the front end was not touched.
"""
import argparse
import concurrent.futures
import difflib
import hashlib
import os
import pathlib
import subprocess
import sys

from fixtures import ROOT, fixtures

SHOWN = 40  # lines of a difference
FOREIGN = "foreign"


class Build:
    def __init__(self, folder):
        self.lint = folder / "bin/dtype-lint"
        self.evaluate = folder / "tests/same_report/evaluate_ir"
        for each in (self.lint, self.evaluate):
            if not each.is_file():
                sys.exit(f"same_report.py: {each} is missing: build dtype-lint and evaluate_ir in {folder}")

    def lowered(self, fixture):
        # The small libtorch of the tests is no code of the project, although it lies in it.
        command = [self.lint, "--root", ROOT, "--exclude", ROOT / "tests/unit/clang", "--no-cache", "--color=never",
                   "--dump-flow", fixture.source, *([] if fixture.is_python else ["--", *fixture.flags])]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        return run.stdout, f"exit status {run.returncode}\n{run.stderr}"

    def answer(self, root, files):
        run = subprocess.run([self.evaluate, root, *files], capture_output=True, text=True, check=False)
        return run.stdout + (f"exit status {run.returncode}: {run.stderr}" if run.returncode else "")


def stored_name(fixture, old):
    """Other text, flags or another OLD make another file."""
    key = hashlib.sha256()
    seen = [fixture.source, *sorted(fixture.source.parent.glob("*.h"))]
    seen += [pathlib.Path(flag) for flag in fixture.flags if flag.endswith(".h")]
    for part in (*(each.read_bytes() for each in seen), " ".join(fixture.flags).encode(), old):
        key.update(part)
    return f"{fixture.name}.{key.hexdigest()[:16]}.flow"


def difference(name, old, new):
    if old == new:
        return None
    lines = list(difflib.unified_diff(old.splitlines(), new.splitlines(), "old", "new", lineterm="", n=2))
    more = [f"... {len(lines) - SHOWN} more lines"] if len(lines) > SHOWN else []
    return "\n".join([f"{name}: differs", *lines[:SHOWN], *more])


class Comparison:
    def __init__(self, old, new, stored, engine_only):
        self.old, self.new, self.stored, self.engine_only = old, new, stored, engine_only
        self.old_id = hashlib.sha256(old.lint.read_bytes()).digest()

    def store(self, fixture):
        """The file with the IR of a fixture, made by OLD where it is not there yet, and what NEW makes otherwise."""
        kept = self.stored / stored_name(fixture, self.old_id)
        problems = kept.with_suffix(".problems")
        if not problems.is_file():
            text, said = self.old.lowered(fixture)
            kept.write_text(text)
            problems.write_text(said)
        if self.engine_only:
            return kept, None
        text, said = self.new.lowered(fixture)
        return kept, (difference(f"{fixture.name}: its IR", kept.read_text(), text)
                      or difference(f"{fixture.name}: its messages", problems.read_text(), said))

    def evaluate(self, name, files):
        return difference(f"{name}: its report", self.old.answer(ROOT, files), self.new.answer(ROOT, files))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--stored", type=pathlib.Path, required=True)
    parser.add_argument("--torch", type=pathlib.Path, help="folder of libtorch's headers")
    parser.add_argument("--engine", action="store_true", help="NEW lowers nothing")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    if args.torch and not (args.torch / "torch/csrc/api/include/torch/types.h").is_file():
        sys.exit(f"same_report.py: --torch: {args.torch} has no torch/csrc/api/include/torch/types.h")
    args.stored.mkdir(parents=True, exist_ok=True)
    compared = Comparison(Build(args.old.resolve()), Build(args.new.resolve()), args.stored, args.engine)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        lowered = list(pool.map(compared.store, fixtures(args.torch)))
        kept = [file for file, _ in lowered if file.stat().st_size]
        if not kept:
            sys.exit("same_report.py: OLD lowered no fixture")
        foreign = sorted((args.stored / FOREIGN).rglob("*.flow"))
        programs = [(file.name, [file]) for file in (*kept, *foreign)]
        translation_units = [file for file in kept if ".py." not in file.name]
        for folder in sorted({file.name.rsplit("+", 1)[0] for file in translation_units}):  # and each folder as one program
            programs.append((folder, [file for file in translation_units if file.name.rsplit("+", 1)[0] == folder]))
        evaluated = list(pool.map(lambda program: compared.evaluate(*program), programs))
    problems = [each for _, each in lowered if each] + [each for each in evaluated if each]
    read = "" if args.engine else f"{len(lowered)} fixtures lowered alike, "
    print("\n\n".join(problems) or f"{read}{len(programs)} programs evaluated alike, {len(foreign)} of them other people's")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
