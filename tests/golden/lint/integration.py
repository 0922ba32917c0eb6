"""The guide to CI and pre-commit, executed: the commands of its snippets in a project with a
mistake and in one without, and the hooks of .pre-commit-hooks.yaml through pre-commit itself where it is installed.

    integration.py DTYPE_LINT MINI_TORCH
"""
import json
import os
import pathlib
import re
import shutil
import subprocess

import project

ROOT = project.HERE.parents[2]
GUIDE = (ROOT / "analyzer" / "driver" / "guides" / "ci.md").read_text()
WRONG = ('#include "attention.h"\n'
         "at::Tensor scores(at::Tensor q, const at::Tensor& k, const at::Tensor& w) {\n"
         "  q = q * w;\n  return attend(q, k, k);\n}\n"
         "int main() {\n  scores(torch::ones({2, 2}, at::kHalf), torch::ones({2, 2}, at::kHalf),"
         " torch::ones({2, 2}, at::kFloat));\n}\n")
RIGHT = WRONG.replace("q * w;", "(q * w).to(q.scalar_type());")


def snippets():
    """The shell commands of each YAML snippet that is marked."""
    blocks = re.findall(r"<!-- commands -->\n```yaml\n(.*?)```", GUIDE, re.S)
    return [re.findall(r"^ +- (?:run: )?((?:cmake|dtype-lint) .*)$", block, re.M) for block in blocks]


class Integration(project.Case):
    def setUp(self):
        super().setUp()
        self.bin = self.scratch / "bin"
        self.bin.mkdir()
        (self.bin / "dtype-lint").symlink_to(pathlib.Path(project.LINT).resolve())
        self.environment = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "HOME": str(self.scratch),
                            "XDG_CACHE_HOME": str(self.scratch / "cache"), "DTYPE_LINT_RESOURCE_DIR":
                            os.environ.get("DTYPE_LINT_RESOURCE_DIR", "")}
        if not self.environment["DTYPE_LINT_RESOURCE_DIR"]:
            del self.environment["DTYPE_LINT_RESOURCE_DIR"]

    def shell(self, command, status=None):
        run = subprocess.run(command, shell=isinstance(command, str), cwd=self.folder, env=self.environment, text=True,
                             capture_output=True, check=False)
        if status is not None:
            self.assertEqual(run.returncode, status, f"{command}\n{run.stdout}{run.stderr}")
        return run

    def cmake_project(self, text):
        self.write(a__cpp=text, CMakeLists__txt=(
            "cmake_minimum_required(VERSION 3.16)\nproject(p LANGUAGES CXX)\nset(CMAKE_CXX_STANDARD 17)\n"
            "add_executable(a a.cpp)\n"
            f"target_compile_options(a PRIVATE -include {project.TORCH})\n"))

    def test_ci_snippets(self):
        found = snippets()
        self.assertEqual([len(each) for each in found], [2, 2], "the guide has two snippets of two commands each")
        for text, status in ((WRONG, 1), (RIGHT, 0)):
            self.cmake_project(text)
            for configure, lint in found:
                shutil.rmtree(self.folder / "build", ignore_errors=True)
                self.shell(configure, 0)
                run = self.shell(lint, status)
                self.assertEqual("a.cpp" in run.stdout, status == 1, run.stdout)
        sarif = json.loads((self.folder / "dtype-lint.sarif").read_text())
        quality = json.loads((self.folder / "gl-code-quality.json").read_text())
        self.assertEqual((sarif["runs"][0]["results"], quality), ([], []))

    def test_pre_commit(self):
        hooks = (ROOT / ".pre-commit-hooks.yaml").read_text()
        self.assertEqual(re.findall(r"^- id: (\S+)", hooks, re.M), ["dtype-lint", "dtype-lint-fix"])
        program = os.environ.get("PRE_COMMIT") or shutil.which("pre-commit")
        if not program or not shutil.which("git"):
            self.skipTest("pre-commit or git is not installed")
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
        hook_repository = self.scratch / "hooks"
        hook_repository.mkdir()
        shutil.copy(ROOT / ".pre-commit-hooks.yaml", hook_repository)
        for step in (["init", "-q"], ["add", "."], ["commit", "-qm", "hooks"], ["tag", "v0.1.0"]):
            subprocess.run([*git, *step], cwd=hook_repository, check=True, capture_output=True)
        config = re.search(r"```yaml\n(repos:.*?)```", GUIDE, re.S).group(1)
        for hook, status, after in (("dtype-lint", 1, WRONG), ("dtype-lint-fix", 1, RIGHT), ("dtype-lint", 0, RIGHT)):
            self.cmake_project(WRONG if after == WRONG or hook == "dtype-lint-fix" else RIGHT)
            self.shell("cmake -B build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON", 0)
            (self.folder / ".pre-commit-config.yaml").write_text(
                config.replace("/path/or/url/of/dtype-guard", str(hook_repository)).replace("id: dtype-lint", f"id: {hook}"))
            (self.folder / ".gitignore").write_text("build/\n")
            if not (self.folder / ".git").exists():
                self.shell([*git, "init", "-q"], 0)
            self.shell([*git, "add", "."], 0)
            run = self.shell([program, "run", "--all-files"], status)
            self.assertIn("Passed" if status == 0 else "Failed", run.stdout)
            self.assertEqual((self.folder / "a.cpp").read_text(), after, run.stdout)


project.main()
