"""Runs what CI and pre-commit would: the steps of a composite action of GitHub, the script of a job of GitLab."""
import os
import pathlib
import re
import shutil
import sys

import wheel_support
from wheel_support import ROOT, TOOLS, WHEELS, run

sys.path += [str(folder) for folder in sorted((TOOLS.parent / "lib").glob("python*/site-packages"))]
try:
    import yaml
except ImportError:
    yaml = None

GUIDE = (ROOT / "analyzer" / "driver" / "guides" / "ci.md").read_text()
ACTION = ROOT / ".github" / "actions" / "dtype-guard" / "action.yml"
WRONG = """import torch
import torch.nn.functional as F


def attend(q, k, v, scale):
    q = q * scale
    return F.scaled_dot_product_attention(q, k, v)


def main():
    q = torch.randn(1, 2, 8, 16, dtype=torch.bfloat16)
    attend(q, q, q, torch.ones(16))


main()
"""
RIGHT = WRONG.replace("q = q * scale", "q = (q * scale).to(q.dtype)")
WRONG_CPP = ('#include "attention.h"\n'
             "at::Tensor scores(at::Tensor q, const at::Tensor& k, const at::Tensor& w) {\n"
             "  q = q * w;\n  return attend(q, k, k);\n}\n"
             "int main() {\n  scores(torch::ones({2, 2}, at::kHalf), torch::ones({2, 2}, at::kHalf),"
             " torch::ones({2, 2}, at::kFloat));\n}\n")
RIGHT_CPP = WRONG_CPP.replace("q * w;", "(q * w).to(q.scalar_type());")
FIXTURE = ROOT / "tests" / "golden" / "lint" / "fixtures" / "attention.h"
CMAKE = ("cmake_minimum_required(VERSION 3.16)\nproject(p LANGUAGES CXX)\nset(CMAKE_CXX_STANDARD 17)\nadd_executable(a a.cpp)\n"
         f"target_compile_options(a PRIVATE -include {ROOT / 'tests' / 'unit' / 'clang' / 'mini_torch.h'})\n")


def snippet(kind):
    """The block of YAML behind <!-- KIND --> in the guide, as text."""
    return re.search(rf"<!-- {re.escape(kind)} -->\n```yaml\n(.*?)```", GUIDE, re.S)[1]


class Case(wheel_support.Case):
    """A project with a git repository; pip finds the wheels in the place of an index."""

    def setUp(self):
        if yaml is None:
            self.skipTest("no PyYAML in BUILD/.wheel-tools")
        self.home = self.scratch / "home of the project"
        shutil.rmtree(self.home, ignore_errors=True)
        self.folder = self.home / "project"
        self.folder.mkdir(parents=True)
        self.environment = {**os.environ, "HOME": str(self.home), "XDG_CACHE_HOME": str(self.home / "cache"), "PIP_NO_INDEX": "1",
                            "PIP_FIND_LINKS": WHEELS.as_uri(), "PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1",
                            "GIT_CONFIG_GLOBAL": os.devnull}
        for role in ("AUTHOR", "COMMITTER"):
            self.environment |= {f"GIT_{role}_NAME": "a", f"GIT_{role}_EMAIL": "a@b"}

    def write(self, **files):
        for name, text in files.items():
            (self.folder / name.replace("__", ".")).write_text(text)

    def command(self, *words, status=0, **more):
        result = run(*words, cwd=self.folder, env={**self.environment, **more})
        self.assertEqual(result.returncode, status, f"{words}\n{result.stdout}{result.stderr}")
        return result.stdout

    def git(self, *words):
        return self.command("git", *words)

    def commit(self):
        if not (self.folder / ".git").exists():
            self.git("init", "--quiet", "--initial-branch=main")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "more")


class Action:
    """One run of the action: what its shell prints, its status, and which steps of others it would have taken."""

    def __init__(self, case, inputs, base="", wheel_is_cached=False, fresh=False):
        self.action = yaml.safe_load(ACTION.read_text())
        known = self.action["inputs"]
        unknown = set(inputs) - set(known)
        case.assertEqual(unknown, set(), "inputs that the action does not have")
        self.temp = (case.home if fresh else case.scratch) / "runner temp"
        self.fresh, self.folder = fresh, case.folder
        self.summary = case.home / "summary.md"
        self.values = {f"inputs.{name}": inputs.get(name, known[name]["default"]) for name in known}
        self.values |= {"runner.temp": str(self.temp), "runner.os": "Linux", "runner.arch": "X64", "github.run_id": "1", "github.run_attempt": "1"}
        self.cached = wheel_is_cached
        self.output, self.status, self.used, self.taken = "", 0, [], set()
        for number, step in enumerate(self.action["runs"]["steps"]):
            self.take(case, number, step, base)

    def text(self, template):
        return re.sub(r"\$\{\{ (\S+) \}\}", lambda found: self.values[found[1]], template)

    @property
    def is_set_up(self):
        """By another test, with the same wheel."""
        return not self.fresh and (self.temp / "dtype-guard" / self.values.get("steps.wheel.outputs.key", "none") / "venv").is_dir()

    def is_due(self, step):
        condition = step.get("if", "")
        if condition == "steps.wheel-cache.outputs.cache-hit != 'true'":
            return self.status == 0 and not self.cached and not self.is_set_up
        if condition == "always() && steps.lint.outcome != 'skipped'":
            return "steps.lint" in self.taken
        if condition == "always() && steps.lint.outcome != 'skipped' && inputs.sarif != '' && hashFiles(inputs.sarif) != ''":
            return "steps.lint" in self.taken and self.values["inputs.sarif"] != "" and (self.folder / self.values["inputs.sarif"]).is_file()
        assert condition == "", f"a condition that this test does not know: {condition}"
        return self.status == 0 and not (self.is_set_up and "-m venv" in step.get("run", ""))

    def take(self, case, number, step, base):
        if not self.is_due(step):
            return
        self.taken.add(f"steps.{step.get('id')}")
        if "uses" in step:
            name, words = step["uses"].partition("@")[0], {key: self.text(value) for key, value in step["with"].items()}
            self.used.append((name, words))
            if name.endswith("/save"):  # what is kept is what the steps before have filled
                case.assertTrue(any(pathlib.Path(words["path"]).iterdir()), words)
            return
        case.assertNotIn("${{", step["run"], "an input in a script is code")
        output = case.home / f"output of {number}"
        output.touch()
        result = run("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"], cwd=case.folder, env={
            **case.environment, "GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(self.summary), "GITHUB_BASE_REF": base,
            **{key: self.text(value) for key, value in step.get("env", {}).items()}})
        self.output += result.stdout + result.stderr
        self.status = self.status or result.returncode
        for line in output.read_text().splitlines():
            name, _, value = line.partition("=")
            self.values[f"steps.{step['id']}.outputs.{name}"] = value
