#!/usr/bin/env python3
"""Writes the repository from which pre-commit installs the hooks, as a commit and the tag of this version.

    pre_commit.py FOLDER

pre-commit runs `pip install .` in the repository that a configuration names, which takes a pyproject.toml at its top; this project
has none, since CMake builds it. So the hooks have a repository of their own, as those of ruff and clang-format do: the hooks of
.pre-commit-hooks.yaml with `language: python`, and what asks for the wheel (hooks/). FOLDER is made, or gets one more commit.
"""
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from version import ROOT, project_version  # noqa: E402

HOOKS = pathlib.Path(__file__).resolve().parent / "hooks"  # what pip builds there, without an index
README = """\
# dtype-guard for pre-commit

```yaml
repos:
  - repo: ADDRESS OF THIS REPOSITORY
    rev: v{version}
    hooks:
      - id: dtype-lint
```

Each tag installs the wheel of that version. Hooks: {hooks}. Written by dtype-guard's `make pre-commit`.
"""


def python_hooks(text):
    """The hooks with `language: python`, without the comment that opens the file."""
    hooks = re.sub(r"\A(#.*\n)+", "", text)
    changed = hooks.replace("  language: system\n", "  language: python\n")
    if changed.count("language: python") != len(re.findall(r"^- id:", hooks, re.M)):
        sys.exit("pre_commit.py: .pre-commit-hooks.yaml: expected `language: system` in each hook")
    return changed


def write(folder, version):
    hooks = python_hooks((ROOT / ".pre-commit-hooks.yaml").read_text())
    names = ", ".join(f"`{name}`" for name in re.findall(r"^- id: (\S+)", hooks, re.M))
    (folder / ".pre-commit-hooks.yaml").write_text(hooks)
    for file in sorted(HOOKS.iterdir()):
        if file.is_file():
            shutil.copy(file, folder)
    (folder / "VERSION").write_text(f"{version}\n")
    (folder / "README.md").write_text(README.format(version=version, hooks=names))
    shutil.copy(ROOT / "LICENSE", folder)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: pre_commit.py FOLDER")
    folder, version = pathlib.Path(sys.argv[1]), project_version()

    def git(*words):
        return subprocess.run(["git", "-C", folder, *words], text=True, stdout=subprocess.PIPE, check=True).stdout.strip()

    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / ".git").exists():
        git("init", "--quiet", "--initial-branch=main")
    write(folder, version)
    git("add", "--all")
    tag = f"v{version}"
    tagged = bool(git("tag", "--list", tag))
    if git("status", "--porcelain"):
        if tagged:
            sys.exit(f"pre_commit.py: {folder} has {tag}, with other hooks; a tag is not moved")
        git("-c", "user.name=dtype-guard", "-c", "user.email=dtype-guard@example.org", "commit", "--quiet", "--message",
            f"dtype-guard {version}")
    if not tagged:
        git("tag", tag)
    print(f"{folder}  {tag}")


if __name__ == "__main__":
    main()
