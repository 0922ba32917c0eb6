"""A folder as SOURCE: its sources, and its headers through files that include them."""
import os
import shlex

import project

RULE = "rotary-dtype-mismatch"
BAD = "void {0}(at::Tensor x) {{ rotary(x.to(at::kFloat), x, x); }}\n"
INLINE = "inline " + BAD


class Folders(project.Case):
    def test_a_folder_of_headers_is_read_through_files_that_include_them(self):
        self.write(src_in_layers_in_norm__h=INLINE.format("norm"), src_in_layers_in_rope__h=INLINE.format("rope"),
                   src_in_model__h='#include "layers/norm.h"\n#include "layers/rope.h"\n' + INLINE.format("model"),
                   src_in_main__cpp='#include "model.h"\n' + BAD.format("main_"), other__cpp=BAD.format("other"))
        self.compiled("src/main.cpp", "other.cpp")
        wanted = [(RULE, "src/layers/norm.h", 1), (RULE, "src/layers/rope.h", 1)]
        for name in ("src/layers", "src/layers/", "src/layers/*", "src/layers/*.h", str(self.folder / "src" / "layers")):
            report = self.report("-p", "build", name, status=1)
            found = [(f["rule"], f["location"]["file"], f["location"]["line"]) for f in report["findings"]]
            self.assertEqual(found, wanted, name)
            self.assertEqual(report["summary"]["files"], 1, "one file that includes both is enough")

    def test_sources_cover_the_headers_that_they_include_and_others_the_rest(self):
        self.write(lib_in_a__cpp='#include "mine.h"\n#include "../api.h"\n' + BAD.format("a"), lib_in_mine__h=INLINE.format("mine"),
                   lib_in_lonely__h=INLINE.format("lonely"), api__h=INLINE.format("api"), only_in_tests__h=INLINE.format("mock"),
                   tests_in_t__cpp='#include "../lib/lonely.h"\n#include "../lib/mine.h"\n#include "../only/tests.h"\n'
                                   + BAD.format("t"))
        self.compiled("lib/a.cpp", "tests/t.cpp")
        wanted = [(RULE, "api.h", 1), (RULE, "lib/a.cpp", 3), (RULE, "lib/lonely.h", 1), (RULE, "lib/mine.h", 1)]
        self.assertEqual(self.found("-p", "build", "lib", status=1), wanted)
        self.assertEqual(self.found("-p", "build", "lib", "only", status=1), wanted + [(RULE, "only/tests.h", 1)])
        self.assertEqual(self.found("-p", "build", "lib/a.cpp", "lib/lonely.h", status=1), wanted)
        (self.folder / "lib" / "lonely.h").unlink()
        self.write(tests_in_t__cpp=BAD.format("t"))
        report = self.report("-p", "build", "lib", status=1)
        self.assertEqual(report["summary"]["files"], 1, "nothing but the folder's sources is read where these do")

    def test_the_folder_of_the_project_is_the_whole_run(self):
        self.write(src_in_a__cpp=BAD.format("a"), src_in_h__h=INLINE.format("h"), third_party_in_x__cpp=BAD.format("x"),
                   build_in_made__cpp=BAD.format("made"), build_in_unity__cxx='#include "../src/joined.cpp"\n',
                   src_in_joined__cpp=BAD.format("joined"), third_party_in_uses__cpp='#include "../src/h.h"\n')
        self.compiled("src/a.cpp", "third_party/x.cpp", "third_party/uses.cpp", "build/made.cpp", "build/unity.cxx")
        self.assertEqual(self.found("-p", "build"), [(RULE, "src/a.cpp", 1), (RULE, "src/joined.cpp", 1)])
        here = self.found("-p", "build", ".")
        self.assertEqual(here, [(RULE, "src/a.cpp", 1), (RULE, "src/h.h", 1), (RULE, "src/joined.cpp", 1)])
        self.assertEqual(self.found("-p", "build", "src"), here)
        self.assertEqual(self.found("-p", "build", "third_party/x*"), [(RULE, "third_party/x.cpp", 1)])
        self.assertEqual(self.found("-p", "build", "src", "--exclude", "h.h,joined.cpp"), [(RULE, "src/a.cpp", 1)])

    def test_a_folder_of_which_nothing_is_built_says_what_was_looked_for(self):
        self.write(docs_in_notes__txt="words\n", docs_in_unused__h="int unused();\n", a__cpp=BAD.format("a"))
        self.compiled("a.cpp")
        run = self.lint("-p", "build", "docs")
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        for word in (f"no file below '{self.folder}/docs'", "build/compile_commands.json", "included by one", "after --"):
            self.assertIn(word, run.stderr)
        report = self.report("-p", "build", "docs", "a.cpp", status=3)
        self.assertEqual([(n["file"], n["reason"]) for n in report["not_analysed"]], [("docs", "no-command")])
        self.assertEqual(len(report["findings"]), 1)
        self.assertEqual(self.found("-p", "build", "attention.h", "--exclude", "*.cpp", status=0), [])
        self.assertIn("not excluded", self.lint("-p", "build", ".", "--exclude", "*.cpp").stderr)
        run = self.lint("-p", "build", "--emit-summary", "a.sum", ".")
        self.assertEqual(run.returncode, 2)
        self.assertIn("may be many", run.stderr)

    def test_a_header_that_the_command_includes(self):
        self.write(inc_in_all__h=INLINE.format("all"), inc_in_deep__h=INLINE.format("deep"), src_in_a__cpp="int a;\n",
                   inc_in_next__h='#include "deep.h"\n')
        for flags in ("-include inc/all.h -include inc/next.h", "--include=all.h --include next.h -I inc"):
            self.entries.clear()
            self.compiled("src/a.cpp", flags=flags)
            self.assertEqual(self.found("-p", "build", "inc/all.h", status=1), [(RULE, "inc/all.h", 1)])
            self.assertEqual(self.found("-p", "build", "inc", status=1), [(RULE, "inc/all.h", 1), (RULE, "inc/deep.h", 1)])

    def test_names_through_links(self):
        self.write(src_in_inc_in_h__h=INLINE.format("h"), src_in_a__cpp='#include "inc/h.h"\n' + BAD.format("a"))
        (self.scratch / "link").symlink_to(self.folder)
        self.compiled("src/a.cpp", directory=self.scratch / "link")
        for name in ("src/inc", "src/inc/h.h"):
            for place in (self.folder, self.scratch / "link"):
                report = self.report("-p", "build", place / name, status=1)
                found = [os.path.realpath(os.path.join(report["root"], f["location"]["file"])) for f in report["findings"]]
                self.assertEqual(found, [str(self.folder / "src" / "inc" / "h.h")], (name, place))
        self.assertEqual(len(self.found("-p", "build", "src", status=1)), 2)
        for root in (self.folder, self.scratch / "link"):  # by whatever name it is told, it is the same folder
            for run in (("-p", "build"), ("-p", "build", "src/a.cpp"), (self.folder / "src" / "a.cpp", "--", *shlex.split(project.FLAGS))):
                self.assertEqual(len(self.found("--root", root, *run, status=1)), 2, (root, run))
        nowhere = self.scratch / "elsewhere"
        nowhere.mkdir()
        self.assertEqual(self.lint("--root", nowhere, "-p", "build").returncode, 2)
        (self.folder / "src" / "alias.h").symlink_to(self.folder / "src" / "inc" / "h.h")
        self.write(src_in_a__cpp='#include "alias.h"\n')
        self.assertEqual(len(self.found("-p", "build", "src/alias.h", status=1)), 1)

    def test_what_lies_outside_of_the_project_is_refused_and_not_passed_over(self):
        self.write(a_in_a__cpp=BAD.format("a"), b_in_b__cpp=BAD.format("b"))
        for each in ("a", "b"):
            (self.folder / each / ".git").mkdir()
        flags = shlex.split(project.FLAGS) + ["-I", str(self.folder)]
        self.compiled("a/a.cpp", "b/b.cpp", flags="-I .")
        for run in (("a/a.cpp", "b/b.cpp", "--", *flags), ("-p", "build", "--root", "a", "b/b.cpp"),
                    ("--root", "a", "b/b.cpp", "--", *flags)):
            refused = self.lint(*run)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""), run)
            for word in ("b/b.cpp' is not below", "--root"):
                self.assertIn(word, refused.stderr)
        self.assertEqual(len(self.found("--root", ".", "a/a.cpp", "b/b.cpp", "--", *flags, status=1)), 2)

    def test_what_a_carrier_hides_is_not_called_stale(self):
        self.write(h__h=INLINE.format("h"), a__cpp='#include "h.h"\n' + BAD.format("a").replace(
            "\n", f"  // NOLINT(dtype-{RULE}): meant to be so\n"))
        self.compiled("a.cpp")
        self.assertEqual(self.found("-p", "build", "h.h", status=1), [(RULE, "h.h", 1)])

    def test_the_configuration_in_the_folder_holds(self):
        self.write(src_in_a__cpp=BAD.format("a"), src_in_h__h=INLINE.format("h"))
        self.compiled("src/a.cpp")
        (self.folder / "src" / ".dtype-lint.json").write_text('{"inherit": true, "rules": ["discarded-cast"]}')
        for name in ("src", "src/", "src/a.cpp", "src/*.cpp"):
            self.assertEqual(self.found("-p", "build", name), [], name)


project.main()
