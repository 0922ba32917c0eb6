"""Which project a source belongs to and by what name it is known: without a mark, in folders of other people's code, through
links, in databases written by hand."""
import json
import os
import subprocess

import project

RULE = "rotary-dtype-mismatch"
BAD = "void {0}(at::Tensor x) {{ rotary(x.to(at::kFloat), x, x); }}\n"


class Names(project.Case):
    def test_one_source_has_the_names_of_the_whole_run(self):
        (self.folder / ".dtype-lint.json").unlink()
        self.write(src_in_deep_in_a__cpp='#include "../h.h"\n', src_in_h__h="inline " + BAD.format("h"),
                   build_in_CMakeCache__txt=f"CMAKE_HOME_DIRECTORY:INTERNAL={self.folder}\n")
        self.compiled("src/deep/a.cpp")
        whole = self.report("-p", "build", status=1)
        one = self.report("-p", "build", "src/deep/a.cpp", status=1)
        self.assertEqual(whole["findings"][0]["location"]["file"], "src/h.h")
        self.assertEqual(one, whole)
        (self.folder / "src" / ".dtype-lint.json").write_text("{}")
        self.assertEqual(self.report("-p", "build", "src/deep/a.cpp")["root"], str(self.folder / "src"), "a mark wins")

    def test_a_build_folder_beside_the_project(self):
        self.write(a__cpp=BAD.format("a"))
        (self.folder / ".dtype-lint.json").write_text('{"fail-on": "never"}')
        self.compiled("a.cpp")
        beside = (self.folder / "build").rename(self.scratch / "elsewhere")
        (beside / "CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={self.folder}\n")
        self.assertEqual(self.found("-p", beside, cwd=self.scratch, status=0), [(RULE, "a.cpp", 1)])

    def test_folders_of_other_peoples_code(self):
        for name in ("third_party", "site-packages"):
            with self.subTest(name):
                (self.folder / name / "x").mkdir(parents=True)
                (self.folder / name / "x" / "c.cpp").write_text(BAD.format("c"))
                self.write(a__cpp=BAD.format("a"))
                self.entries.clear()
                self.compiled("a.cpp", f"{name}/x/c.cpp")
                self.assertEqual(self.found(status=1), [(RULE, "a.cpp", 1)])
                self.assertEqual(self.found("-p", "build", f"{name}/x/c.cpp", status=1), [(RULE, f"{name}/x/c.cpp", 1)],
                                 "a file that is named is wanted")

    def test_a_project_in_such_a_folder(self):
        place = self.scratch / "third_party"
        place.mkdir()
        self.folder = self.folder.rename(place / "project")
        self.write(a__cpp=BAD.format("a"), third_party_in_c__cpp=BAD.format("c"), in_in_third_party_in_d__cpp=BAD.format("d"))
        self.compiled("a.cpp", "third_party/c.cpp", "in/third_party/d.cpp")
        self.assertEqual(self.found(status=1), [(RULE, "a.cpp", 1)])
        self.assertEqual(self.found("-p", "build", "a.cpp", status=1), [(RULE, "a.cpp", 1)])

    def test_a_source_behind_a_link(self):
        self.write(src_in_a__cpp=BAD.format("a"))
        self.compiled("src/a.cpp")
        (self.scratch / "link").symlink_to(self.folder)
        (self.folder / "sources").symlink_to("src")
        for name in (self.scratch / "link" / "src" / "a.cpp", "sources/a.cpp"):
            self.assertEqual(self.found("-p", "build", name, status=1), [(RULE, "src/a.cpp", 1)])

    def test_a_database_with_relative_folders(self):
        self.write(src_in_a__cpp=BAD.format("a"))
        for directory, file in (("..", "src/a.cpp"), (".", "../src/a.cpp"), ("../src", "a.cpp")):
            self.entries = [{"directory": directory, "file": file, "arguments": [
                "g++", "-std=c++17", "-include", project.TORCH, "-include", str(self.folder / "attention.h"), "-c", file]}]
            self.compiled()
            self.assertEqual(self.found("-p", self.folder / "build", cwd="/", status=1), [(RULE, "src/a.cpp", 1)])

    def test_a_response_file_that_is_gone(self):
        self.write(a__cpp=BAD.format("a"), b__cpp="int b;\n")
        self.compiled("a.cpp")
        self.compiled("b.cpp", flags="@none.rsp")
        report = self.report(status=3)
        self.assertEqual([(n["file"], n["reason"], n["detail"]) for n in report["not_analysed"]],
                         [("b.cpp", "parse-error", "the response file 'none.rsp' of its command cannot be read")])
        self.assertEqual(len(report["findings"]), 1)

    def test_a_source_without_a_command_does_not_keep_the_others_back(self):
        self.write(a__cpp=BAD.format("a"), new__s="nop\n", lonely__asm="nop\n")
        self.compiled("a.cpp")
        report = self.report("-p", "build", "new.s", "a.cpp", "lonely.asm", status=3)
        self.assertEqual([(f["rule"], f["location"]["file"]) for f in report["findings"]], [(RULE, "a.cpp")])
        self.assertEqual([(n["file"], n["reason"]) for n in report["not_analysed"]],
                         [("lonely.asm", "no-command"), ("new.s", "no-command")])
        run = self.lint("-p", "build", "-q", "new.s", "a.cpp", "--fix")
        self.assertEqual(run.returncode, 3)
        self.assertIn("new.s: not analysed: no-command: ", run.stdout)
        self.assertIn("build it with the project", run.stdout)
        self.assertEqual(self.lint("-p", "build", "new.s", "lonely.asm").returncode, 2, "nothing is left to look at")

    def test_a_source_without_a_command_is_read_as_the_nearest_one_is_compiled(self):
        def guarded(define):
            return f"#ifdef {define}\n" + BAD.format("f") + "#endif\n"

        self.write(src_in_a__cpp="int a;\n", src_in_deep_in_b__cpp="int b;\n", tests_in_c__cpp="int c;\n", src_in_d__c="int d;\n",
                   src_in_new__cpp=guarded("ON_A"), src_in_deep_in_more_in_new__cpp=guarded("ON_B"),
                   tests_in_new__h=guarded("ON_C"), tests_in_other__c="int (*new)(void);\n")
        for file, define in (("src/a.cpp", "ON_A"), ("src/deep/b.cpp", "ON_B"), ("tests/c.cpp", "ON_C")):
            self.compiled(file, flags=f"-D{define}")
        self.entries.append({"directory": str(self.folder), "file": "src/d.c", "command": "gcc -std=c11 -c src/d.c"})
        self.compiled()
        for new, like in (("src/new.cpp", "src/a.cpp"), ("src/deep/more/new.cpp", "src/deep/b.cpp"), ("tests/new.h", "tests/c.cpp")):
            with self.subTest(new):
                run = self.lint("-p", "build", new)
                self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
                self.assertIn(f"dtype-lint: note: '{new}' is not in {self.folder}/build/compile_commands.json; it is read as "
                              f"'{like}' is compiled\n", run.stderr)
                self.assertEqual(self.found("-p", "build", new, "src/a.cpp", status=1), [(RULE, new, 2)])
        self.assertEqual(self.lint("-p", "build", "tests/other.c").returncode, 0, "as C is compiled, in which new is a name")
        self.assertEqual(self.lint("-p", "build").stderr, "", "a file that was not named is none of the build's")

    def test_a_header_that_only_the_compiler_of_the_command_brings(self):
        """Where GCC is without it there is nothing to find."""
        where = subprocess.run(["g++", "-print-file-name=include/omp.h"], capture_output=True, text=True, check=False).stdout.strip()
        if not os.path.isabs(where):
            self.skipTest("g++ has no omp.h of its own here")
        self.write(a__cpp="#include <omp.h>\nint threads() { return omp_get_max_threads(); }\n#ifdef _OPENMP\n" + BAD.format("a") +
                   "#endif\n", b__cpp="#include <stdatomic.h>\n#include <immintrin.h>\n#include <float.h>\n" + BAD.format("b"))
        self.compiled("a.cpp", flags="-fopenmp")
        self.compiled("b.cpp", flags="-std=c++23 -mavx2")
        for _ in range(2):  # the second time from the cache
            report = self.report(status=1)
            self.assertEqual(report["not_analysed"], [])
            self.assertEqual([(f["location"]["file"], f["location"]["line"]) for f in report["findings"]], [("a.cpp", 4), ("b.cpp", 4)])

    def test_every_format_says_what_failed(self):
        self.write(a__cpp='#include "nowhere.h"\n')
        self.compiled("a.cpp")
        for form in ("text", "json", "sarif", "html", "github", "gitlab", "rdjson"):
            run = self.lint("-p", "build", f"--format={form}")
            self.assertEqual(run.returncode, 3)
            if form not in ("gitlab", "rdjson"):
                self.assertIn("'nowhere.h' file not found", run.stdout, form)
            told = form in ("text", "github")
            self.assertEqual(run.stderr, "" if told else "dtype-lint: a.cpp: parse-error: a.cpp:1:10: 'nowhere.h' file not found\n")
        self.assertIn("::error file=a.cpp,title=not analysed::parse-error", self.lint("-p", "build", "--format=github").stdout)

    def test_empty_words_are_refused(self):
        self.write(a__cpp=BAD.format("a"))
        self.compiled("a.cpp")
        for arguments, words in ((["", ], "SOURCE is empty"), (["a.cpp", ""], "SOURCE is empty"), (["--exclude", ""], "--exclude: '' is empty, expected GLOB")):
            run = self.lint("-p", "build", *arguments)
            self.assertEqual((run.returncode, run.stdout), (2, ""), arguments)
            self.assertIn(words, run.stderr)
        (self.folder / ".dtype-lint.json").write_text(json.dumps({"external": [""]}))
        self.assertIn("an empty one would leave out everything", self.lint("-p", "build").stderr)

    def test_what_is_no_regular_file_is_not_waited_for(self):
        self.write(a__cpp=BAD.format("a"))
        os.mkfifo(self.folder / "pipe.cpp")
        self.compiled("a.cpp", "pipe.cpp")
        report = self.report(status=3)
        self.assertEqual([(n["file"], n["detail"]) for n in report["not_analysed"]], [("pipe.cpp", "it is no regular file")])
        for arguments in (["-p", "build", "pipe.cpp"], ["pipe.cpp", "--", "-std=c++17"], ["/dev/null", "--", "-std=c++17"]):
            run = self.lint(*arguments)
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn("is no regular file", run.stderr)

    def test_a_wrong_value_is_blamed_on_who_wrote_it(self):
        self.write(a__cpp=BAD.format("a"))
        self.compiled("a.cpp")
        config = self.folder / ".dtype-lint.json"
        for member, value in (("precision", ["bf17"]), ("rules", ["nope"]), ("torch", "none"), ("device", "gpu"), ("fail-on", "often"),
                              ("contracts", ["none.json"])):
            config.write_text(json.dumps({member: value}))
            run = self.lint("-p", "build")
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn(f"{config}: '{member}': ", run.stderr)
        config.write_text("{}")
        self.assertIn("dtype-lint: --precision: 'bf17'", self.lint("-p", "build", "--precision", "bf17").stderr)

    def test_what_failed_is_said_whatever_else_is_not(self):
        self.write(a__cpp='#include "nowhere.h"\n', b__cpp=BAD.format("b"))
        self.compiled("a.cpp", "b.cpp")
        why = "a.cpp:1:10: 'nowhere.h' file not found"
        run = self.lint("-p", "build", "-q", "a.cpp")
        self.assertEqual((run.returncode, run.stdout), (3, f"a.cpp: not analysed: parse-error: {why}\n"))
        run = self.lint("-p", "build", "-q", "a.cpp", "--emit-summary", "a.sum")
        self.assertEqual((run.returncode, run.stderr), (3, f"dtype-lint: a.cpp: parse-error: {why}\n"))
        self.assertIn(why, self.lint("-q", "--link", "a.sum").stdout)
        self.assertNotIn("analysed", self.lint("-p", "build", "-q", "b.cpp").stdout, "what did not fail")


project.main()
