"""Input that no compiler would take, or that takes it down: said clearly, exit status 3, the other files analysed."""
import json

import project

RULE = "rotary-dtype-mismatch"
GOOD = "void good(at::Tensor x) { rotary(x.to(at::kFloat), x, x); }\n"


class BadInput(project.Case):
    def setUp(self):
        super().setUp()
        self.write(good__cpp=GOOD)
        self.compiled("good.cpp")

    def listed(self, *reasons, file="bad.cpp", words=(), **rest):
        """The bad file is listed with the reason, the good one has its finding."""
        report = self.report(status=3, **rest)
        self.assertEqual([f["location"]["file"] for f in report["findings"]], ["good.cpp"])
        self.assertEqual([(n["file"], n["reason"]) for n in report["not_analysed"]], [(file, r) for r in reasons])
        for word in words:
            self.assertIn(word, report["not_analysed"][0]["detail"])
        return report

    def test_a_missing_header(self):
        self.write(bad__cpp='#include "nowhere.h"\nint f();\n')
        self.compiled("bad.cpp")
        self.listed("parse-error", words=["bad.cpp:1:10", "'nowhere.h' file not found"])

    def test_what_stands_behind_a_missing_header_is_seen(self):
        self.write(bad__cpp='#include "nowhere.h"\ntemplate <typename T> T same(T x) { return x; }\n'
                            "void f(at::Tensor x) { rotary(same(x).to(at::kFloat), x, x); }\n"
                            "void g(at::Tensor x) { rotary(same(x), x, x); }\n")
        self.compiled("bad.cpp")
        report = self.report(status=3)
        self.assertEqual([f["location"]["line"] for f in report["findings"] if f["location"]["file"] == "bad.cpp"], [3])
        self.assertIn("'nowhere.h' file not found", report["not_analysed"][0]["detail"])

    def test_wrong_paths_in_the_database(self):
        self.compiled("bad.cpp")
        self.listed("parse-error", words=["No such file", "bad.cpp"])
        self.write(bad__cpp="int f();\n")
        self.entries[-1]["directory"] = str(self.scratch / "gone")
        self.entries[-1]["file"] = str(self.folder / "bad.cpp")
        self.compiled()
        self.listed("parse-error", words=["gone", "does not exist"])

    def test_a_database_that_is_odd(self):
        entry = self.entries[0]
        path = self.folder / "build" / "compile_commands.json"
        words = entry["command"].replace("'", "").split()
        for odd in ([entry, entry], [{**entry, "arguments": words, "command": "g++ -c other.cpp"}], [{**entry, "directory": ".."}],
                    [{**entry, "file": "../project/./good.cpp"}], [{**entry, "directory": f"{self.folder}/"}]):
            path.write_text(json.dumps(odd))
            self.assertEqual(self.found(status=1), [(RULE, "good.cpp", 1)], odd)
        path.write_bytes(b"\xef\xbb\xbf" + json.dumps([entry]).encode())
        self.assertEqual(self.found(status=1), [(RULE, "good.cpp", 1)])
        for coding in ("utf-16", "utf-16-be"):
            path.write_bytes(json.dumps([entry]).encode(coding))
            run = self.lint("-p", "build")
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn("not UTF-8", run.stderr)
            self.assertEqual(run.stderr.count("\n"), 1, "none of the file's bytes are shown")

    def test_unknown_flags_are_left_out(self):
        self.compiled("good.cpp", flags="--unknown-flag=1 -Zodd -mfoo=bar -fnothing --param x=1 -Xfoo "
                                        "-diag-disable 3 -march=native -not_a_flag")
        del self.entries[0]
        self.compiled()
        self.assertEqual(self.found(status=1), [(RULE, "good.cpp", 1)])
        run = self.lint("-p", "build", "--extra-arg=--unknown-flag")
        self.assertEqual(run.returncode, 3, "a flag of the user's own is wanted")
        self.assertIn("unknown-flag", run.stdout)

    def test_compiler_launchers(self):
        self.entries[0]["command"] = "ccache " + self.entries[0]["command"]
        self.compiled()
        self.assertEqual(self.found(status=1), [(RULE, "good.cpp", 1)])

    def test_sources_that_are_not_utf8_or_have_dos_line_ends(self):
        latin = "// caf\xe9\r\n".encode("latin-1") + GOOD.replace("\n", "\r\n").replace(
            "x, x", "x, /*\xe9*/ x").encode("latin-1")
        self.write(good__cpp=latin)
        report = self.report(status=1)
        self.assertEqual(report["findings"][0]["location"]["line"], 2)
        for form in ("text", "sarif", "html", "github", "gitlab", "rdjson"):
            run = self.lint("-p", "build", f"--format={form}=out.{form}", "--quiet")
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertTrue((self.folder / f"out.{form}").stat().st_size > 0)
        for text in (b"\xef\xbb\xbf" + GOOD.encode(), b"\xff\xfei\0n\0t\0", b"\0\0\0\0", b""):
            self.write(bad__cpp=text)
            if len(self.entries) == 1:
                self.compiled("bad.cpp")
            run = self.lint("-p", "build", "--format=json")
            self.assertIn(run.returncode, (1, 3), run.stderr)
            self.assertTrue(json.loads(run.stdout)["findings"])

    def test_a_crash_inside_clang(self):
        overflow = "int f(int x) { return " + "!" * 60_000 + "x; }\n"
        for text in ("#pragma clang __debug crash\n", "#pragma clang __debug llvm_fatal_error\n", overflow):
            self.write(bad__cpp=text)
            if len(self.entries) == 1:
                self.compiled("bad.cpp")
            self.listed("crash", words=["Clang crashed"])
            self.listed("crash", words=["Clang crashed"])  # and is not kept as something else

    def test_a_file_on_which_clang_hangs(self):
        self.write(bad__cpp="constexpr long f() { long n = 0; for (long i = 0; i < 4000000000; ++i) n += i; return n; }\n"
                            "static_assert(f());\n")
        self.compiled("bad.cpp", flags="-fconstexpr-steps=4294967295")
        (self.folder / ".dtype-lint.json").write_text('{"time-limit": 20.0}')
        self.listed("timeout", words=["20 seconds"])

    def test_very_large_functions(self):
        many = "".join(f"  x = x * {i}.0;\n" for i in range(10_000))
        deep = "x" + " + x" * 3000
        nested = "if (n) { " * 200 + "n = 1;" + "}" * 200
        brackets = "(" * 220 + "x" + ")" * 220
        self.write(bad__cpp="at::Tensor many(at::Tensor x) {\n" + many + "  return x;\n}\n"
                            f"at::Tensor deep(at::Tensor x) {{ return {deep}; }}\n"
                            f"void nested(int n) {{ {nested} }}\n"
                            f"at::Tensor brackets(at::Tensor x) {{ return {brackets}; }}\n")
        self.compiled("bad.cpp")
        report = self.report()
        self.assertIn((RULE, "good.cpp"), [(f["rule"], f["location"]["file"]) for f in report["findings"]])
        self.assertEqual([n for n in report["not_analysed"] if n["reason"] in ("crash", "timeout")], [])

    def test_get_by_type(self):
        self.write(bad__cpp="#include <variant>\n#include <tuple>\nfloat f(std::variant<int, float> v, std::tuple<int, float> t) {\n"
                            "  return std::get<float>(v) + std::get<float>(t) + std::get<0>(t);\n}\n")
        self.compiled("bad.cpp")
        self.assertEqual(self.found(status=1), [(RULE, "good.cpp", 1)])

    def test_recursion(self):
        self.write(bad__cpp="at::Tensor b(at::Tensor x, int n);\n"
                            "at::Tensor a(at::Tensor x, int n) { return n ? b(x * 2.0, n - 1) : a(x, n + 1); }\n"
                            "at::Tensor b(at::Tensor x, int n) { return n ? a(x, n - 1) : b(a(x, n), n); }\n")
        self.compiled("bad.cpp")
        self.assertEqual(self.found(status=1), [(RULE, "good.cpp", 1)])

    def test_a_function_that_explodes_is_named(self):
        levels = "".join(f"at::Tensor f{i}(at::Tensor x) {{ return f{i + 1}(x) + f{i + 1}(x * 2.0); }}\n"
                         for i in reversed(range(25)))
        self.write(bad__cpp="static at::Tensor f25(at::Tensor x) { return x; }\n" + levels.replace("at::Tensor f", "static at::Tensor f")
                            + "void explode(at::Tensor x) { rotary(f0(x), x, x); }\n")
        self.compiled("bad.cpp")
        report = self.report(status=1)  # a budget is listed and does not change the status
        self.assertEqual([(n["file"], n["function"], n["reason"]) for n in report["not_analysed"]],
                         [("bad.cpp", "explode", "budget")])

    def test_working_directories_differ_per_file(self):
        for i in range(6):
            self.write(**{f"d{i}_in_local__h": f"#define WIDE x.to(at::{'kFloat' if i % 2 else 'kHalf'})\n",
                          f"d{i}_in_s__cpp": '#include <local.h>\n' f"void s{i}(at::Tensor x) {{ rotary(WIDE, x, x); }}\n"})
            self.compiled("s.cpp", directory=self.folder / f"d{i}", flags=f"-I . -include {self.folder}/attention.h")
            self.entries[-1]["command"] = self.entries[-1]["command"].replace("-include attention.h", "")
        self.compiled()
        for jobs in (1, 4):
            self.assertEqual(self.found("-p", "build", "--jobs", jobs),
                             [(RULE, f"d{i}/s.cpp", 2) for i in (1, 3, 5)] + [(RULE, "good.cpp", 1)])

    def test_cuda_through_nvcc(self):
        kernel = ("template <class T> __global__ void scale(T* x, int n) { if (n) x[0] = x[0]; }\n"
                  "void launch(float* x, int n) { scale<<<n, 1>>>(x, n); }\n")
        self.write(bad__cu=kernel + GOOD.replace("good", "cu"))
        flags = ("-forward-unknown-to-host-compiler -ccbin /usr/bin/g++ -DX=1 -isystem=/opt/none "
                 "--generate-code=arch=compute_80,code=[sm_80] -gencode arch=compute_90a,code=sm_90a -Xcompiler=-fPIC,-Wall "
                 "-Xptxas -v --expt-relaxed-constexpr --expt-extended-lambda --use_fast_math -std=c++17 --threads 4 "
                 "-diag-suppress 177 -lineinfo")
        self.entries.append({"directory": str(self.folder), "file": "bad.cu",
                             "command": f"/nowhere/bin/nvcc {flags} {project.FLAGS} -x cu -c bad.cu -o bad.cu.o"})
        self.compiled()
        for toolkit in ([], ["--extra-arg=--cuda-path=/nowhere"]):  # the one of this machine if it has one; none
            report = self.report("-p", "build", *toolkit, status=1)
            self.assertEqual(report["not_analysed"], [])
            self.assertEqual([f["location"]["file"] for f in report["findings"]], ["bad.cu", "good.cpp"])


project.main()
