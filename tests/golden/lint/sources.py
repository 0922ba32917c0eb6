"""Which files dtype-lint looks at and with what settings: databases, globs, headers, standard input, configuration."""
import json
import os
import pty
import signal
import subprocess
import time

import project

RULE = "rotary-dtype-mismatch"
BAD = "void {0}(at::Tensor x) {{ rotary(x.to(at::kFloat), x, x); }}\n"
INLINE = "inline " + BAD


class Sources(project.Case):
    def test_folders_globs_and_exclusions(self):
        self.write(src_in_a__cpp=BAD.format("a"), src_in_b__cpp=BAD.format("b"), tests_in_c__cpp=BAD.format("c"),
                   gen_in_deep_in_d__cpp=BAD.format("d"))
        self.compiled("src/a.cpp", "src/b.cpp", "tests/c.cpp", "gen/deep/d.cpp")

        def files(*arguments, **rest):
            return [file for _, file, _ in self.found("-p", "build", *arguments, **rest)]

        everything = ["gen/deep/d.cpp", "src/a.cpp", "src/b.cpp", "tests/c.cpp"]
        self.assertEqual(files(), everything)
        self.assertEqual(files("src"), ["src/a.cpp", "src/b.cpp"])
        self.assertEqual(files("src/*.cpp"), ["src/a.cpp", "src/b.cpp"])
        self.assertEqual(files("src/a*"), ["src/a.cpp"])
        self.assertEqual(files("--exclude", "tests", "--exclude=gen/deep/"), ["src/a.cpp", "src/b.cpp"])
        self.assertEqual(files("--exclude", "d.cpp,src/*.cpp"), ["tests/c.cpp"])
        self.assertEqual(files("--exclude", "src", "src/a.cpp"), ["src/a.cpp"], "a file that is named is wanted")
        run = self.lint("-p", "build", "--exclude", "*")
        self.assertEqual(run.returncode, 2)
        self.assertIn("excluded", run.stderr)
        self.assertEqual(self.lint("-p", "build", "none*.cpp").returncode, 2)

    def test_an_excluded_header_is_not_the_projects(self):
        self.write(vendor_in_h__h=BAD.format("inline h").replace("void inline", "inline void"), a__cpp='#include "vendor/h.h"\n')
        self.compiled("a.cpp")
        self.assertEqual(len(self.found(status=1)), 1)
        self.assertEqual(self.found("-p", "build", "--exclude", "vendor", status=0), [])

    def test_response_files(self):
        self.write(a__cpp="#ifdef ON\n" + BAD.format("a") + "#endif\n", flags__rsp=f"-DON \"-DX='a b'\"\n", args="-p build\n'a.cpp'\n")
        self.compiled("a.cpp")
        self.assertEqual(self.found("@args", status=0), [])
        self.entries.clear()
        self.compiled("a.cpp", flags="@flags.rsp")
        self.assertEqual(len(self.found("@args", status=1)), 1)
        self.assertEqual(self.lint("@none").returncode, 2)

    def test_several_commands_for_one_file(self):
        self.write(a__cpp="#ifdef ON\n" + BAD.format("a") + "#endif\n" + BAD.format("b"))
        self.compiled("a.cpp")
        self.compiled("a.cpp", flags="-DON")
        self.compiled("a.cpp", flags="-DON -O3 -Wall")
        report = self.report(status=1)
        self.assertEqual([f["location"]["line"] for f in report["findings"]], [2, 4])
        self.assertEqual(report["summary"]["files"], 1)
        self.assertEqual(self.found("-p", "build", "a.cpp"), self.found())

    def test_a_header_is_analysed_through_a_file_that_includes_it(self):
        self.write(inc_in_deep__h=BAD.format("inline deep").replace("void inline", "inline void"),
                   inc_in_mid__h='#include "deep.h"\n', z__cpp="#include <mid.h>\n" + BAD.format("z"),
                   other__h="inline int unused() { return 1; }\n")
        self.compiled("z.cpp", flags="-I inc")
        self.assertEqual(self.found("-p", "build", "inc/deep.h", status=1), [(RULE, "inc/deep.h", 1)])
        run = self.lint("-p", "build", "other.h")
        self.assertEqual(run.returncode, 0)
        self.assertIn("'other.h' is not in", run.stderr)
        self.assertEqual(self.found("inc/deep.h", "--", "-std=c++17", "-include", project.TORCH, "-include", "attention.h",
                                    status=1), [(RULE, "inc/deep.h", 1)])

    def test_a_file_that_leaves_the_include_out_is_no_user_of_the_header(self):
        self.write(h__h=INLINE.format("h"), off__h="#ifdef ON\n#include \"h.h\"\n#endif\n",
                   a__cpp='#if 0\n#include "h.h"\n#endif\n' + BAD.format("a"), b__cpp='#include "off.h"\n' + BAD.format("b"))
        for file in ("a.cpp", "b.cpp"):
            self.compiled(file)
        for _ in range(2):  # the second time from the cache
            run = self.lint("-p", "build", "h.h")
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            for word in ("h.h' is a header", "includes it the way it is compiled", "a.cpp, b.cpp", "after --"):
                self.assertIn(word, run.stderr)
        report = self.report("-p", "build", "a.cpp", "h.h", status=3)
        self.assertEqual([(n["file"], n["reason"]) for n in report["not_analysed"]], [("h.h", "no-command")])
        self.assertEqual([f["location"]["file"] for f in report["findings"]], ["a.cpp"])
        self.compiled("b.cpp", flags="-DON")
        for extra in ((), (), ("--no-cache",)):
            report = self.report("-p", "build", "h.h", *extra, status=1)
            self.assertEqual([f["location"]["file"] for f in report["findings"]], ["h.h"])
            self.assertEqual(report["summary"]["files"], 1, "those that do not include it are of no account")
        self.assertEqual(self.found("-p", "build", "a.cpp", "h.h", status=1), [(RULE, "a.cpp", 4), (RULE, "h.h", 1)])
        self.write(inc_in_h__h=INLINE.format("deep"), inc_in_use__h='#if 0\n#include "h.h"\n#endif\n', c__cpp='#include "inc/use.h"\n')
        self.compiled("c.cpp")
        self.assertEqual(self.lint("-p", "build", "inc/*").returncode, 0, "a folder's header that nothing includes is none")

    def test_standard_input(self):
        self.write(src_in_a__cpp="int saved;\n", src_in_own__h="#define WIDE at::kFloat\n")
        self.compiled("src/a.cpp")
        unsaved = '#include "own.h"\n' + BAD.format("a").replace("at::kFloat", "WIDE")
        for extra in ((), ("-",)):
            found = self.found("-p", "build", "--stdin-filename", "src/a.cpp", *extra, stdin=unsaved, status=1)
            self.assertEqual(found, [(RULE, "src/a.cpp", 2)])
        self.assertEqual(self.found("-p", "build", "--stdin-filename", "src/a.cpp", stdin="int x;\n", status=0), [])
        new = self.lint("-p", "build", "--stdin-filename", "src/new.cpp", stdin=unsaved)
        self.assertEqual(new.returncode, 1)
        self.assertIn("'src/new.cpp' is not in", new.stderr)
        self.assertEqual(self.lint("-p", "build", "--stdin-filename", "src/a.cpp", "src/a.cpp", stdin="").returncode, 2)
        self.assertEqual(self.found("--stdin-filename", "src/new.cpp", "--", "-std=c++17", "-include", project.TORCH,
                                    "-include", "attention.h", stdin=BAD.format("n"), status=1), [(RULE, "src/new.cpp", 1)])

    def test_configuration(self):
        self.write(src_in_a__cpp=BAD.format("a"), src_in_skip_in_b__cpp=BAD.format("b"))
        self.compiled("src/a.cpp", "src/skip/b.cpp")
        config = self.folder / ".dtype-lint.json"

        def files(**settings):
            config.write_text(json.dumps(settings))
            return [file for _, file, _ in self.found()]

        self.assertEqual(files(), ["src/a.cpp", "src/skip/b.cpp"])
        self.assertEqual(files(exclude=["skip"]), ["src/a.cpp"])
        self.assertEqual(files(rules=["discarded-cast"]), [])
        self.assertEqual(files(**{"extra-args": ["-Drotary(a,b,c)="]}), [])
        self.assertEqual(files(external=["src/skip"]), ["src/a.cpp"])
        config.write_text('{"rules": ["discarded-cast"]}')
        self.assertEqual(len(self.found("-p", "build", "--rules", RULE)), 2, "the command line wins")
        other = self.scratch / "other.json"
        other.write_text(json.dumps({"exclude": [str(self.folder / "src" / "a.cpp")]}))
        self.assertEqual(self.found("-p", "build", "--config", other), [(RULE, "src/skip/b.cpp", 1)])
        config.write_text('{"fail-on": "never"}')
        self.report(status=0)

    def test_a_setting_of_its_own(self):
        self.write(a__cpp="void a(at::Tensor x, at::Tensor t) { rotary(x, t, t); }\n")
        self.compiled("a.cpp")
        row = {"name": "mine", "inputs": "bfloat16"}
        (self.folder / ".dtype-lint.json").write_text(json.dumps({"precision-settings": [row]}))
        self.assertEqual(self.lint("-p", "build", "--precision", "mine").returncode, 0)
        self.assertEqual(self.lint("-p", "build", "--precision", "mind").returncode, 2)
        self.assertIn("mine", self.lint("-p", "build", "--precision", "mind").stderr)

    def test_a_setting_has_no_name_that_another_has(self):
        self.write(src_in_a__cpp="void a(at::Tensor x, at::Tensor t) { rotary(x, t, t); }\n")
        self.compiled("src/a.cpp")
        outer, inner = self.folder / ".dtype-lint.json", self.folder / "src" / ".dtype-lint.json"
        for rows, other in (([{"name": "bf16", "inputs": "float32"}], "a built-in setting"),
                            ([{"name": "mine"}, {"name": "mine", "inputs": "bfloat16"}], "a row before it")):
            outer.write_text(json.dumps({"precision-settings": rows}))
            run = self.lint("-p", "build")
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            for word in (str(outer), "'precision-settings'", f"'{rows[0]['name']}'", other, "a name of its own"):
                self.assertIn(word, run.stderr)
        outer.write_text(json.dumps({"precision-settings": [{"name": "mine", "inputs": "float32"},
                                                            {"name": "other", "inputs": "bfloat16"}]}))
        inner.write_text(json.dumps({"inherit": True, "precision-settings": [{"name": "mine", "inputs": "bfloat16"}]}))
        for name in ("mine", "other"):
            run = self.lint("-p", "build", "--precision", name, "src/a.cpp")
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_configuration_is_inherited_where_it_says_so(self):
        self.write(src_in_a__cpp=BAD.format("a"), src_in_skip_in_b__cpp=BAD.format("b"))
        self.compiled("src/a.cpp", "src/skip/b.cpp")
        (self.folder / ".dtype-lint.json").write_text('{"rules": ["discarded-cast"]}')
        inner = self.folder / "src" / ".dtype-lint.json"
        inner.write_text("{}")
        self.assertEqual(self.report("-p", "build", "src/a.cpp")["root"], str(self.folder / "src"))
        inner.write_text('{"inherit": true}')
        self.assertEqual(self.found("-p", "build", "src/a.cpp"), [])
        self.assertEqual(self.report("-p", "build", "src/a.cpp")["root"], str(self.folder))
        inner.write_text('{"inherit": true, "rules": ["' + RULE + '"]}')
        self.assertEqual(len(self.found("-p", "build", "src/a.cpp")), 1)

    def test_wrong_configuration(self):
        self.write(a__cpp="int a;\n")
        self.compiled("a.cpp")
        config = self.folder / ".dtype-lint.json"
        for text, words in (("{", ["not JSON", ".dtype-lint.json"]), ("[]", ["expected an object"]),
                            ('{"precison": []}', ["'precison'", "did you mean"]),
                            ('{"precision": "fp16"}', ["'precision'", "a list of strings"]),
                            ('{"precision": ["fp61"]}', ["'fp61'"]), ('{"strict": 1}', ["'strict'", "true or false"]),
                            ('{"exclude": ["a", ""]}', [".dtype-lint.json", "'exclude'", "an empty one"]),
                            ('{"rules": ' + "[" * 200_000 + "]" * 200_000 + "}", [".dtype-lint.json", "nested deeper"]),
                            ('{"a\\u001b[31mb": 1}', ["unknown member", "a\\x1b[31mb"]),
                            ('{"rules": ["nope"]}', ["'nope'"]), ('{"device": "gpu"}', ["'gpu'"]),
                            ('{"time-limit": 0}', ["'time-limit'", "whole seconds"]),
                            ('{"time-limit": 1.5}', ["'time-limit'", "whole seconds"]),
                            ('{"precision-settings": [{"name": "m", "inputs": "half7"}]}', ["half7"])):
            config.write_text(text)
            run = self.lint("-p", "build")
            self.assertEqual((run.returncode, run.stdout), (2, ""), text)
            for word in words:
                self.assertIn(word, run.stderr, text)
        run = self.lint("-p", "build", "--config", "none.json")
        self.assertEqual(run.returncode, 2)
        self.assertIn("none.json", run.stderr)

    def test_numbers_of_jobs(self):
        self.write(a__cpp="int a;\n")
        self.compiled("a.cpp")
        for number in ("0", "-1", "two", "1.5", "99999999999999999999"):
            run = self.lint("-p", "build", f"--jobs={number}")
            self.assertEqual((run.returncode, run.stdout), (2, ""), number)
            self.assertIn(number, run.stderr)
        self.assertEqual(self.lint("-p", "build", "-j", "3").returncode, 0)

    def test_progress_is_for_terminals(self):
        self.write(a__cpp="int a;\n", b__cpp="int b;\n")
        self.compiled("a.cpp", "b.cpp")
        self.assertEqual(self.lint("-p", "build").stderr, "")
        for extra, wanted in (([], True), (["--quiet"], False)):
            parent, child = pty.openpty()
            subprocess.run([project.LINT, "-p", "build", "--no-cache", *extra], cwd=self.folder, stderr=child,
                           stdout=subprocess.DEVNULL, check=False)
            os.close(child)
            seen = b""
            try:
                while chunk := os.read(parent, 4096):
                    seen += chunk
            except OSError:
                pass
            os.close(parent)
            self.assertEqual(b"[1/2]" in seen and b"[2/2]" in seen, wanted)

    def test_an_interrupt_leaves_nothing_behind(self):
        slow = "constexpr long f() { long n = 0; for (long i = 0; i < 4000000000; ++i) n += i; return n; }\nstatic_assert(f());\n"
        self.write(a__cpp=slow)
        self.compiled("a.cpp", flags="-fconstexpr-steps=4294967295")
        (self.folder / "old.json").write_text("before")
        before = sorted(p.name for p in self.folder.iterdir())
        run = subprocess.Popen([project.LINT, "-p", "build", "--format=json=new.json", "--format=sarif=old.json"],
                               cwd=self.folder, env={**os.environ, "XDG_CACHE_HOME": str(self.scratch / "cache")})
        time.sleep(1)
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(30), -signal.SIGINT)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), before)
        self.assertEqual((self.folder / "old.json").read_text(), "before")

    def test_reports_go_where_their_names_lead(self):
        self.write(a__cpp=BAD.format("a"))
        self.compiled("a.cpp")
        target = self.scratch / "target.json"
        target.write_text("old")
        target.chmod(0o640)
        (self.folder / "link.json").symlink_to(target)
        self.assertEqual(self.lint("-p", "build", "--format=json=link.json", "--format=sarif=/dev/null").returncode, 1)
        self.assertTrue((self.folder / "link.json").is_symlink())
        self.assertEqual(len(json.loads(target.read_text())["findings"]), 1)
        self.assertEqual(target.stat().st_mode & 0o777, 0o640)
        self.assertEqual(list(self.folder.glob("*.tmp")), [])


project.main()
