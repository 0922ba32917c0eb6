"""The hooks of .pre-commit-hooks.yaml for C++ through pre-commit itself, with the dtype-lint in PATH. What CI and pre-commit do with the
wheel is tested in tests/install/ci_test.py.

    integration.py DTYPE_LINT MINI_TORCH
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import project

ROOT = project.HERE.parents[2]
CONFIG = """repos:
  - repo: {}
    rev: v1.0.0
    hooks:
      - id: {}
"""
WRONG = ('#include "attention.h"\n'
         "at::Tensor scores(at::Tensor q, const at::Tensor& k, const at::Tensor& w) {\n"
         "  q = q * w;\n  return attend(q, k, k);\n}\n"
         "int main() {\n  scores(torch::ones({2, 2}, at::kHalf), torch::ones({2, 2}, at::kHalf),"
         " torch::ones({2, 2}, at::kFloat));\n}\n")
RIGHT = WRONG.replace("q * w;", "(q * w).to(q.scalar_type());")


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

    def test_pre_commit(self):
        hooks = (ROOT / ".pre-commit-hooks.yaml").read_text()
        self.assertEqual(re.findall(r"^- id: (\S+)", hooks, re.M), ["dtype-lint", "dtype-lint-fix", "dtype-lint-cpp", "dtype-lint-cpp-fix"])
        program = shlex.split(os.environ.get("PRE_COMMIT", "pre-commit"))
        if not shutil.which(program[0]) or not shutil.which("git") or self.shell([*program, "--version"]).returncode != 0:
            self.skipTest("pre-commit or git is not installed")
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
        hook_repository = self.scratch / "hooks"
        hook_repository.mkdir()
        shutil.copy(ROOT / ".pre-commit-hooks.yaml", hook_repository)
        for step in (["init", "-q"], ["add", "."], ["commit", "-qm", "hooks"], ["tag", "v1.0.0"]):
            subprocess.run([*git, *step], cwd=hook_repository, check=True, capture_output=True)
        for hook, status, after in (("dtype-lint-cpp", 1, WRONG), ("dtype-lint-cpp-fix", 1, RIGHT), ("dtype-lint-cpp", 0, RIGHT)):
            self.cmake_project(WRONG if after == WRONG or hook == "dtype-lint-cpp-fix" else RIGHT)
            self.shell("cmake -B build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON", 0)
            (self.folder / ".pre-commit-config.yaml").write_text(CONFIG.format(hook_repository, hook))
            (self.folder / ".gitignore").write_text("build/\n")
            if not (self.folder / ".git").exists():
                self.shell([*git, "init", "-q"], 0)
            self.shell([*git, "add", "."], 0)
            run = self.shell([*program, "run", "--all-files"], status)
            self.assertIn("Passed" if status == 0 else "Failed", run.stdout)
            self.assertEqual((self.folder / "a.cpp").read_text(), after, run.stdout)


project.main()
