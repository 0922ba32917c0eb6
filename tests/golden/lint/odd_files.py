"""Named pipes, devices, folders, dangling links and files without permission, wherever a file is read or written: each is refused
by name, at once, and none is taken for a clean file."""
import json
import os
import shutil
import stat
import subprocess

import project

RULE = "rotary-dtype-mismatch"
BAD = "void {0}(at::Tensor x) {{ rotary(x.to(at::kFloat), x, x); }}\n"


class OddFiles(project.Case):
    def setUp(self):
        super().setUp()
        self.write(a__cpp=BAD.format("a"))
        self.compiled("a.cpp")
        os.mkfifo(self.folder / "pipe")
        (self.folder / "gone").symlink_to("nowhere")
        (self.folder / "dir").mkdir()

    def refused(self, *arguments, words=(), status=2):
        run = self.lint(*arguments)
        self.assertEqual(run.returncode, status, (arguments, run.stdout, run.stderr))
        for word in words:
            self.assertIn(word, run.stdout + run.stderr, arguments)

    def shell(self, line, status):
        run = subprocess.run(["bash", "-c", line.replace("LINT", f"'{project.LINT}' -p build")], cwd=self.folder, text=True,
                             env={**os.environ, "XDG_CACHE_HOME": str(self.scratch / "cache")}, capture_output=True,
                             check=False)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return run

    def test_what_is_read(self):
        for name, what in (("pipe", "named pipe"), ("/dev/zero", "a device"), ("gone", "No such file"), ("dir", "a folder")):
            for option in ("--baseline", "--contracts", "--config"):
                self.refused("-p", "build", "a.cpp", option, name, words=[name, what])
            self.refused("--link", name, words=[name, what])
            self.refused("@" + name, words=[name])
        self.refused("-p", "build", "pipe", words=["'pipe' is no regular file"])

    def test_what_the_shell_hands_over(self):
        self.assertEqual(self.lint("-p", "build", "--write-baseline", "b.json").returncode, 0)
        self.shell("LINT --baseline <(cat b.json)", 0)
        self.shell("LINT --baseline /dev/stdin < b.json", 0)
        self.shell("cat b.json | LINT --baseline /dev/stdin", 0)
        self.shell("LINT --format json=>(cat > out.json); wait; sleep 1", 0)
        self.assertEqual(len(json.loads((self.folder / "out.json").read_text())["findings"]), 1)

    def test_contracts_from_a_pipe_are_part_of_what_the_cache_knows(self):
        self.write(a__cpp="struct Half16; void mine(const at::Tensor&);\nvoid a(at::Tensor x) { mine(x.to(at::kFloat)); }\n")

        def contract(name):
            return json.dumps({"schema": "dtype-guard/contracts/1", "library": "own", "apis": [{
                "name": name, "kind": "attention", "spellings": [name],
                "operands": [{"role": "q", "argument": 0, "accepts": ["half"]}]}]})

        self.write(one__json=contract("mine"), two__json=contract("other"))
        self.shell("LINT --contracts <(cat two.json)", 0)
        self.shell("LINT --contracts <(cat one.json)", 1)

    def test_configuration_and_database(self):
        config = self.folder / ".dtype-lint.json"
        config.unlink()
        for make, what in ((lambda path: path.symlink_to("nowhere"), "No such file"), (os.mkfifo, "named pipe"),
                           (lambda path: path.mkdir(), "a folder")):
            make(config)
            self.refused("-p", "build", words=[".dtype-lint.json", what])
            self.refused("-p", "build", "a.cpp", words=[".dtype-lint.json", what])
            config.rmdir() if config.is_dir() else config.unlink()
        config.write_text("{}")
        for make, what in ((lambda path: path.symlink_to("nowhere"), "a link to 'nowhere'"), (os.mkfifo, "named pipe"),
                           (lambda path: path.mkdir(), "a folder")):
            other = self.folder / "other"
            other.mkdir()
            make(other / "compile_commands.json")
            self.refused("-p", "other", "a.cpp", words=["compile_commands.json", what])
            shutil.rmtree(other)
        os.mkfifo(self.folder / "build" / "CMakeCache.txt")
        self.assertEqual(len(self.found("-p", "build", status=1)), 1)

    def test_sources_and_headers(self):
        os.mkfifo(self.folder / "h.h")
        os.mkfifo(self.folder / "s.cpp")
        self.write(b__cpp='#include "h.h"\n', c__cpp='#include "/dev/zero"\n', d__cpp="int d;\n")
        self.compiled("b.cpp", "c.cpp", "s.cpp")
        self.compiled("d.cpp", flags="-include /dev/null")
        for arguments in (("-p", "build"), ("-p", "build", "."), ("-p", "build", "--no-cache", "--fix")):
            report = self.report(*arguments, status=3)
            self.assertEqual([(n["file"], n["reason"]) for n in report["not_analysed"]],
                             [(name, "parse-error") for name in ("b.cpp", "c.cpp", "s.cpp")])
            self.assertIn("it is a named pipe", report["not_analysed"][0]["detail"])
            self.assertIn("it is a device", report["not_analysed"][1]["detail"])
        self.refused("-p", "build", "h.h", words=["no regular file"])

    def test_what_is_written(self):
        self.write(a__cpp=BAD.format("a"))
        for option in ("--format=json", "--write-baseline", "--export-fixes", "--emit-summary"):
            for name, what in (("/dev/full", "No space left"), ("pipe", "no process reads"), ("dir", "Is a directory"),
                               ("no/where", "No such file")):
                self.refused("-p", "build", "a.cpp", f"{option}={name}", words=[name, what])
        self.shell("LINT > /dev/full", 2)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.folder / "pipe").st_mode))
        self.assertEqual(list(self.folder.glob("*.tmp")), [])

    def as_unprivileged(self, *arguments, cache="cache"):
        """Root may read everything."""
        command = [project.LINT, *arguments]
        if os.geteuid() == 0:
            command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False,
                              env={**os.environ, "HOME": "/nowhere", "XDG_CACHE_HOME": str(self.scratch / cache)})

    def test_files_without_permission(self):
        if os.geteuid() == 0 and not shutil.which("setpriv"):
            self.skipTest("root reads everything, and there is no setpriv")
        self.scratch.chmod(0o777)  # where a user without rights finds copies of the program and the header
        program = self.scratch / "dtype-lint"
        shutil.copy(project.LINT, program)
        shutil.copy(project.TORCH, self.scratch / "torch.h")
        before, project.LINT = project.LINT, str(program)
        self.addCleanup(setattr, project, "LINT", before)
        self.entries[0]["command"] = self.entries[0]["command"].replace(project.TORCH, str(self.scratch / "torch.h"))
        self.write(h__h="int h;\n", a__cpp='#include "h.h"\n' + BAD.format("a"), b__json="{}")
        self.compiled()
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", "65534:65534", self.folder], check=True)
        run = self.as_unprivileged("-p", "build", cache="c1")
        if run.returncode == 2 and "own headers" in run.stderr:
            self.skipTest("Clang's headers are out of reach")
        self.assertEqual(run.returncode, 1, run.stderr)
        for name, arguments, status in (("b.json", ["--baseline", "b.json"], 2), ("b.json", ["--contracts", "b.json"], 2),
                                        ("h.h", ["--no-cache"], 3), ("a.cpp", ["--no-cache"], 3), (".dtype-lint.json", [], 2),
                                        ("build/compile_commands.json", [], 2), ("build", [], 2), ("h.h", [], 3)):
            path = self.folder / name
            mode = path.stat().st_mode
            path.chmod(0)
            # What the cache knows of a file that has not changed holds without reading it.
            run = self.as_unprivileged("-p", "build", *arguments, cache="c2")
            path.chmod(mode)
            self.assertEqual(run.returncode, status, (name, run.stdout, run.stderr))
            self.assertIn("Permission denied", run.stdout + run.stderr, name)
        run = self.as_unprivileged("-p", "build", cache="c2")
        self.assertEqual(run.returncode, 1, "what could not be read for a while is not kept: " + run.stdout)
        (self.scratch / "closed").mkdir(mode=0o555)
        run = self.as_unprivileged("-p", "build", cache="closed/x")
        self.assertEqual(run.returncode, 1)
        self.assertIn("cannot be written: Permission denied", run.stderr)


project.main()
