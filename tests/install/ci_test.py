#!/usr/bin/env python3
"""The action of GitHub, the snippets of the guide to CI, and the hooks for pre-commit from the tag that `make pre-commit` sets, with the wheel in the place of an
index.

    ci_test.py BUILD CLANG (1 or 0)
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import ci_support
from ci_support import CMAKE, FIXTURE, RIGHT, RIGHT_CPP, WRONG, WRONG_CPP, Action, snippet
import wheel_support
from wheel_support import FIRST, ROOT, SECOND, TOOLS

CLANG = sys.argv.pop(2) == "1"


class GitHub(ci_support.Case):
    def inputs(self, kind):
        """Of the action in a snippet of the guide, and the commands before it."""
        steps = ci_support.yaml.safe_load(snippet(f"action: {kind}"))["steps"]
        self.assertRegex(steps[-1]["uses"], r"/\.github/actions/dtype-guard@v\d")
        return [each["run"] for each in steps if "run" in each], steps[-1].get("with", {})

    def results(self):
        return [each["ruleId"] for each in json.loads((self.folder / "dtype-lint.sarif").read_text())["runs"][0]["results"]]

    def test_a_python_project(self):
        commands, inputs = self.inputs("python")
        self.assertEqual(commands, [])
        self.write(model__py=WRONG)
        self.commit()
        first = Action(self, inputs, fresh=True)
        self.assertEqual(first.status, 1, first.output)
        self.assertRegex(first.output, r"(?m)^::error file=model\.py,line=6,col=9,.*title=attention-implicit-promotion::")
        self.assertIn("model.py:6:9: error: 'q' of 'scaled_dot_product_attention'", first.summary.read_text())
        self.assertEqual(self.results(), ["attention-implicit-promotion"])
        self.assertEqual([name for name, _ in first.used], ["actions/cache/restore", "actions/cache/save"] * 2 + ["github/codeql-action/upload-sarif"])
        self.assertEqual(first.used[4][1]["sarif_file"], "dtype-lint.sarif")
        for restored, saved in (first.used[:2], first.used[2:4]):
            self.assertEqual({**restored[1], "restore-keys": ""}, {**saved[1], "restore-keys": ""})
        self.assertTrue(first.used[2][1]["key"].startswith(first.used[2][1]["restore-keys"]))  # of an earlier run
        # With what the caches kept there is nothing to download, and the outcome is the same.
        second = Action(self, inputs, wheel_is_cached=True, fresh=True)
        self.assertEqual((second.status, second.output), (1, first.output))
        self.assertEqual([name for name, _ in second.used], [name for name, _ in first.used[:1] + first.used[2:]])
        self.assertEqual(second.used[0], first.used[0])
        self.write(model__py=RIGHT)
        third = Action(self, inputs)
        self.assertEqual((third.status, self.results()), (0, []), third.output)

    def test_another_wheel_is_another_key(self):
        self.write(model__py=RIGHT)
        file = Action(self, {"wheel": str(FIRST[0])}, fresh=True)
        name = Action(self, {})
        self.assertEqual((file.status, name.status), (0, 0), file.output + name.output)
        self.assertNotEqual(file.used[0][1]["key"], name.used[0][1]["key"])
        # A file of the same name with another content is another one.
        copy = pathlib.Path(shutil.copy(FIRST[0], self.home))
        before = Action(self, {"wheel": str(copy)}, fresh=True)
        with copy.open("ab") as wheel:
            wheel.write(b"more")
        after = Action(self, {"wheel": str(copy)}, wheel_is_cached=True, fresh=True)
        self.assertNotEqual(before.used[0][1]["key"], after.used[0][1]["key"])
        missing = Action(self, {"wheel": "dtype-guard==0.0.0"}, fresh=True)
        self.assertEqual([name for name, _ in missing.used], ["actions/cache/restore"])  # nothing is kept, nothing uploaded
        self.assertEqual((missing.status, "No matching distribution found for dtype-guard==0.0.0" in missing.output), (1, True), missing.output)

    def test_two_uses_in_one_job_with_different_wheels(self):
        if not SECOND:
            self.skipTest("no second wheel: no ziglang in BUILD/.wheel-tools")
        self.write(a__cpp="int main() {}\n")
        for number, (wheel, reads_cpp) in enumerate(((FIRST[0], CLANG), (SECOND[0], False), (FIRST[0], CLANG))):
            used = Action(self, {"wheel": str(wheel), "arguments": "a.cpp -- -std=c++20"}, fresh=True)
            self.assertEqual((used.status, "was built without Clang" in used.output), (0 if reads_cpp else 3, not reads_cpp), used.output)
            kept = [words["path"] for name, words in used.used if name == "actions/cache/save"]
            self.assertEqual([each.name for each in pathlib.Path(kept[0]).iterdir()], [wheel.name])
            self.assertEqual(used.summary.read_text().count("```"), 2 * number + 2)
        # What of an earlier use has its report is none of a use that has none.
        failed = Action(self, {"wheel": str(FIRST[0]), "arguments": "--no-such-option"}, fresh=True)
        self.assertEqual((failed.status, failed.summary.read_text().count("```")), (2, 6), failed.output)
        self.assertEqual([name for name, _ in failed.used[-2:]], ["actions/cache/restore", "actions/cache/save"])  # nor its SARIF uploaded
        self.assertNotEqual(failed.used[-1][1]["key"], used.used[-2][1]["key"])  # other arguments have other results

    def test_a_pull_request_answers_for_its_own_lines(self):
        self.write(old__py=WRONG)
        self.commit()
        subprocess.run(["git", "clone", "--quiet", "--bare", self.folder, self.home / "origin.git"], check=True, env=self.environment)
        self.git("remote", "add", "origin", (self.home / "origin.git").as_uri())
        self.git("checkout", "--quiet", "-b", "change")
        self.write(new__py=WRONG)
        self.commit()
        own = Action(self, {}, base="main")
        self.assertEqual((own.status, re.findall(r"file=(\w+)\.py,", own.output)), (1, ["new"]), own.output)
        everything = Action(self, {"changes-only": "false"}, base="main")
        self.assertEqual(re.findall(r"file=(\w+)\.py,", everything.output), ["new", "old"])
        self.write(new__py=RIGHT)
        self.commit()
        self.assertEqual(Action(self, {}, base="main").status, 0)

    def test_arguments_are_words_and_no_code(self):
        self.write(model__py=WRONG)
        (self.folder / "a b.py").write_text(WRONG)
        found = Action(self, {"arguments": "--exclude 'a b.py' --precision bf16-fp32-buffers .", "sarif": ""})
        self.assertEqual((found.status, re.findall(r"file=(.+?),", found.output)), (1, ["model.py"]), found.output)
        self.assertFalse((self.folder / "dtype-lint.sarif").exists())
        self.assertNotIn("github/codeql-action/upload-sarif", dict(found.used))
        code = Action(self, {"arguments": "$(touch made) `touch made`; touch made"})
        self.assertNotEqual(code.status, 0)
        self.assertFalse((self.folder / "made").exists())
        (self.folder / "right.py").write_text(RIGHT)
        open_quote = Action(self, {"arguments": "right.py 'model.py"})
        self.assertEqual((open_quote.status, "close each quote" in open_quote.output), (2, True), open_quote.output)

    def test_a_cmake_project(self):
        if not CLANG:
            self.skipTest("this build's dtype-lint reads Python alone (DTYPE_GUARD_CLANG is off)")
        commands, inputs = self.inputs("cmake")
        self.assertEqual(len(commands), 1)
        for text, status in ((WRONG_CPP, 1), (RIGHT_CPP, 0)):
            self.write(a__cpp=text, attention__h=FIXTURE.read_text(), CMakeLists__txt=CMAKE)
            self.command("bash", "-ec", commands[0])
            found = Action(self, inputs)
            self.assertEqual((found.status, "::error file=a.cpp,line=3" in found.output), (status, status == 1), found.output)


class GitLab(ci_support.Case):
    def job(self, kind, status):
        environment = {**self.environment, "PATH": f"{self.bin}:{os.environ['PATH']}"}
        job = ci_support.yaml.safe_load(snippet(f"commands: {kind}"))["dtype-lint"]
        text = self.command("bash", "-ec", "\n".join(job["script"]), status=status, PATH=environment["PATH"])
        for kept in job["cache"]["paths"]:
            self.assertTrue(any((self.folder / kept).iterdir()), kept)
        self.assertEqual(job["artifacts"]["when"], "always")  # a job with findings fails
        return text, json.loads((self.folder / job["artifacts"]["reports"]["codequality"]).read_text())

    def test_a_python_project(self):
        self.write(model__py=WRONG)
        text, quality = self.job("python", 1)
        self.assertIn("model.py:6:9: error", text)
        self.assertEqual([(each["check_name"], each["location"]["path"]) for each in quality], [("attention-implicit-promotion", "model.py")])
        self.write(model__py=RIGHT)
        self.assertEqual(self.job("python", 0)[1], [])

    def test_a_cmake_project(self):
        if not CLANG:
            self.skipTest("this build's dtype-lint reads Python alone (DTYPE_GUARD_CLANG is off)")
        for text, status in ((WRONG_CPP, 1), (RIGHT_CPP, 0)):
            self.write(a__cpp=text, attention__h=FIXTURE.read_text(), CMakeLists__txt=CMAKE)
            self.assertEqual([each["location"]["path"] for each in self.job("cmake", status)[1]], ["a.cpp"] * status)


class PreCommit(ci_support.Case):
    def setUp(self):
        super().setUp()
        self.program = [TOOLS / "python", "-m", "pre_commit"]
        if wheel_support.run(*self.program, "--version").returncode != 0:
            self.skipTest("no pre-commit in BUILD/.wheel-tools")

    def hook(self, config, status, before, after, **files):
        self.write(model__py=before, __pre_commit_config=config, **files)
        (self.folder / ".pre_commit_config").rename(self.folder / ".pre-commit-config.yaml")
        (self.folder / ".gitignore").write_text("build/\n")
        if not (self.folder / ".git").exists():
            self.git("init", "--quiet")
        self.git("add", "--all")
        # Without the programs of this environment: what runs is what pre-commit has installed.
        text = self.command(*self.program, "run", "--all-files", status=status)
        self.assertIn("Passed" if status == 0 else "Failed", text)
        self.assertEqual((self.folder / "model.py").read_text(), after, text)
        return text

    def test_a_local_hook(self):
        # pre-commit builds the environment of a local hook by setuptools, which pip fetches: the index stays, the wheels come beside it.
        for name in ("PIP_NO_INDEX", "PIP_CONFIG_FILE"):
            self.environment.pop(name)
            if name in os.environ:
                self.environment[name] = os.environ[name]
        self.environment["PIP_FIND_LINKS"] = f"{ci_support.WHEELS.as_uri()} {os.environ.get('PIP_FIND_LINKS', '')}".strip()
        probe = wheel_support.run(self.bin / "python", "-m", "pip", "download", "--quiet", "--no-deps", "--dest", self.home / "probe", "setuptools",
                                  env=self.environment)
        if probe.returncode != 0:
            self.skipTest("no package index answers, and pre-commit's environment for a local hook wants setuptools of it")
        config = snippet("pre-commit: local")
        self.assertIn("model.py:6:9: error", self.hook(config, 1, WRONG, WRONG))
        self.hook(config, 0, RIGHT, RIGHT)

    def test_the_repository_of_the_hooks_by_its_tag(self):
        made = self.home / "hooks"
        self.command(sys.executable, ROOT / "cmake" / "release" / "pre_commit.py", made)
        # No index at all: nothing but the wheel is asked for.
        config = snippet("pre-commit: repository").replace("https://example.org/OWNER/dtype-guard-pre-commit", made.as_uri())
        self.assertIn("model.py:6:9: error", self.hook(config, 1, WRONG, WRONG))
        self.hook(config.replace("id: dtype-lint", "id: dtype-lint-fix"), 1, WRONG, RIGHT)
        self.hook(config, 0, RIGHT, RIGHT)
        if not CLANG:
            return
        for hook, status, before, after in (("dtype-lint-cpp", 1, WRONG_CPP, WRONG_CPP), ("dtype-lint-cpp-fix", 1, WRONG_CPP, RIGHT_CPP),
                                            ("dtype-lint-cpp", 0, RIGHT_CPP, RIGHT_CPP)):
            self.write(a__cpp=before, attention__h=FIXTURE.read_text(), CMakeLists__txt=CMAKE)
            self.command("cmake", "-B", "build", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
            self.hook(config.replace("id: dtype-lint", f"id: {hook}"), status, RIGHT, RIGHT)
            self.assertEqual((self.folder / "a.cpp").read_text(), after)


if __name__ == "__main__":
    wheel_support.main()
