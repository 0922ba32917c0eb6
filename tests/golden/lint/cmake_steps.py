"""dtype_guard_lint in projects of several kinds: which sources it lints, what comes before them, and when it does so again.
The function is that of the source tree, on the dtype-lint of the build; tests/install tries the installed one."""
import re
import shutil
import subprocess

import project

ROOT = project.HERE.parents[2]
BAD = "void {0}(at::Tensor x) {{ rotary(x.to(at::kFloat), x, x); }}\n"
GOOD = "void {0}(at::Tensor x) {{ rotary(x, x, x); }}\n"
HEAD = f"""cmake_minimum_required(VERSION 3.25)
project(p LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
add_compile_options("SHELL:-include '{project.TORCH}'" "SHELL:-include '${{CMAKE_SOURCE_DIR}}/attention.h'")
add_executable(dtype_guard::dtype-lint IMPORTED GLOBAL)
set_target_properties(dtype_guard::dtype-lint PROPERTIES IMPORTED_LOCATION "{project.LINT}")
include("{ROOT}/cmake/dtype_guardLint.cmake")
"""


class Steps(project.Case):
    generator = "Ninja"

    def setUp(self):
        super().setUp()
        tool = {"Ninja": "ninja", "Unix Makefiles": "make"}[self.generator]
        if not shutil.which(tool) or not shutil.which("cmake"):
            self.skipTest(f"{tool} or cmake is not installed")
        shutil.rmtree(self.folder / "build")
        self.folder = self.folder.rename(self.scratch / "a project")

    def run_cmake(self, *arguments):
        environment = {"XDG_CACHE_HOME": str(self.scratch / "cache")}
        run = subprocess.run(["cmake", *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                             env={**project.os.environ, **environment}, check=False)
        return run.returncode, run.stdout + run.stderr

    def configured(self, lists, *options, status=0):
        self.write(CMakeLists__txt=HEAD + lists)
        code, said = self.run_cmake("-B", "build", "-G", self.generator, *options)
        self.assertEqual(code, status, said)
        return said

    def built(self, passes, target="lint_t"):
        """What the build says of the lint, which passes or not."""
        code, said = self.run_cmake("--build", "build", "--target", target)
        self.assertEqual(code == 0, passes, said)
        return said

    def found(self, said):
        return sorted(set(re.findall(r"([\w/]+\.\w+):\d+:\d+: error", said)))

    def test_sources_with_conditions_and_those_of_later(self):
        self.write(a__cpp=GOOD.format("a"), on__cpp=BAD.format("on"), off__cpp=BAD.format("off"), two__cpp=BAD.format("two"),
                   late__cpp=BAD.format("late"), either__cpp=BAD.format("either"))
        said = self.configured("add_library(t OBJECT a.cpp $<$<BOOL:ON>:on.cpp;two.cpp> $<$<CONFIG:Debug>:off.cpp>)\n"
                               "dtype_guard_lint(t)\ntarget_sources(t PRIVATE late.cpp $<IF:1,either.cpp,a.cpp>)\n",
                               "-DCMAKE_BUILD_TYPE=Release")
        self.assertIn("$<IF:1,either.cpp,a.cpp>' is not linted", " ".join(said.split()))
        self.assertEqual(self.found(self.built(False)), ["late.cpp", "on.cpp", "two.cpp"])
        self.configured("add_library(t OBJECT a.cpp $<$<CONFIG:Debug>:off.cpp>)\ndtype_guard_lint(t)\n",
                        "-DCMAKE_BUILD_TYPE=Debug")
        self.assertEqual(self.found(self.built(False)), ["off.cpp"])

    def test_names_that_differ_by_little(self):
        self.write(a_in_b__cpp=BAD.format("one"), a_b__cpp=BAD.format("two"))
        (self.folder / "a-b.cpp").write_text(BAD.format("three"))
        self.configured("add_library(t OBJECT a/b.cpp a_b.cpp a-b.cpp)\ndtype_guard_lint(t)\n")
        said = self.built(False)
        self.assertEqual(said.count("rotary-dtype-mismatch"), 3, said)

    def test_what_is_generated_comes_first(self):
        self.write(a__cpp='#include "own.h"\n#include "theirs.h"\n#include "waited.h"\n' + GOOD.format("a"), lib_in_l__cpp="int l;\n")
        made = ('add_custom_command(OUTPUT ${{CMAKE_CURRENT_BINARY_DIR}}/{0}.h COMMAND ${{CMAKE_COMMAND}} -E touch '
                '${{CMAKE_CURRENT_BINARY_DIR}}/{0}.h)\n')
        self.write(lib_in_CMakeLists__txt=made.format("theirs") + "add_library(l STATIC l.cpp ${CMAKE_CURRENT_BINARY_DIR}/theirs.h)\n"
                   "target_include_directories(l PUBLIC ${CMAKE_CURRENT_BINARY_DIR})\n")
        self.configured("add_subdirectory(lib)\nadd_library(between INTERFACE)\ntarget_link_libraries(between INTERFACE l)\n"
                        + made.format("own") + made.format("waited") + "add_custom_target(w DEPENDS waited.h)\n"
                        "add_library(t STATIC a.cpp ${CMAKE_CURRENT_BINARY_DIR}/own.h)\nadd_dependencies(t w)\n"
                        "target_include_directories(t PRIVATE ${CMAKE_CURRENT_BINARY_DIR})\n"
                        "target_link_libraries(t PRIVATE between)\ndtype_guard_lint(t)\n")
        self.built(True)

    def test_why_a_step_fails_is_said(self):
        self.write(a__cpp='#include "nowhere.h"\n')
        self.configured("add_library(t OBJECT a.cpp)\ndtype_guard_lint(t)\n")
        self.assertIn("a.cpp: parse-error: a.cpp:1:10: 'nowhere.h' file not found", self.built(False))

    def test_a_configuration_that_comes_and_goes(self):
        self.write(src_in_a__cpp=BAD.format("a"))
        self.configured("add_library(t OBJECT src/a.cpp)\ndtype_guard_lint(t)\n")
        self.built(False)
        (self.folder / ".dtype-lint.json").write_text('{"fail-on": "never"}')
        self.built(True)
        self.assertNotIn("Judging", self.built(True), "nothing changed, and it was judged again")
        inner = self.folder / "src" / ".dtype-lint.json"
        inner.write_text('{"exclude": "wrong"}')
        self.assertIn("'exclude'", self.built(False))
        inner.unlink()
        self.built(True)

    def test_a_unity_build(self):
        self.write(a__cpp="static int same;\n" + BAD.format("a"), b__cpp="int b;\n")
        self.configured("add_library(t OBJECT a.cpp b.cpp)\nset_target_properties(t PROPERTIES UNITY_BUILD ON)\n"
                        "dtype_guard_lint(t)\n")
        said = self.built(False)
        self.assertEqual((self.found(said), said.count("rotary-dtype-mismatch")), (["a.cpp"], 1), said)
        for sources, found in (([], [2]), (["a.cpp"], [2]), (["b.cpp"], [])):
            report = self.report("-p", "build", *sources)
            self.assertEqual([f["location"]["line"] for f in report["findings"]], found)


class StepsOfMake(Steps):
    generator = "Unix Makefiles"


project.main()
