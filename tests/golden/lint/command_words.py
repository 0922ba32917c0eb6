"""Commands of a compile database as build systems write them: launchers, flags of GCC, other machines, precompiled headers,
plugins, other languages and other compilers."""
import project

RULE = "rotary-dtype-mismatch"
BAD = "void a(at::Tensor x) { rotary(x.to(at::kFloat), x, x); }\n"
FLAGS = project.FLAGS


class Words(project.Case):
    def setUp(self):
        super().setUp()
        self.write(a__cpp=BAD, pre__h="#pragma once\n#define FROM_PRE 1\n")
        (self.folder / "pre.pch").write_bytes(b"CPCH of another Clang")
        (self.folder / "pre.h.gch").write_bytes(b"gpch of GCC")

    def run_with(self, command, file="a.cpp"):
        self.entries = [{"directory": str(self.folder), "file": file, "command": command}]
        self.compiled()
        return self.report()

    def test_what_has_no_bearing_on_the_source(self):
        for command in (f"sccache distcc g++ {FLAGS} -c a.cpp", f"cmake -E env A=B ccache g++ {FLAGS} -c a.cpp",
                        f"env A=B /usr/bin/time -v g++ {FLAGS} -c a.cpp", f"CCACHE_X=1 g++ {FLAGS} -c a.cpp",
                        f"g++ -march=none-such -mtune=none-such {FLAGS} -c a.cpp",
                        f"aarch64-linux-gnu-g++ -mcpu=neoverse-n1 -march=armv8.2-a+fp16 {FLAGS} -c a.cpp",
                        f"g++ -fplugin=/x.so -fplugin-arg-x-y=1 -fanalyzer -flto=auto -specs=/x.specs {FLAGS} -c a.cpp",
                        f"clang++ -arch x86_64 -arch arm64 {FLAGS} -c a.cpp",
                        f"clang++ -Xclang -load -Xclang /x.so -Xclang -add-plugin -Xclang foo -Xclang -plugin-arg-foo -Xclang b"
                        f" {FLAGS} -c a.cpp",
                        f"cmake -E env A=B /nowhere/bin/nvcc --expt-relaxed-constexpr -Xcompiler -fPIC {FLAGS} -c a.cpp"):
            with self.subTest(command):
                report = self.run_with(command)
                self.assertEqual(([f["rule"] for f in report["findings"]], report["not_analysed"]), ([RULE], []))

    def test_precompiled_headers_are_read_as_headers(self):
        self.write(a__cpp="#ifdef FROM_PRE\n" + BAD + "#endif\n")
        for command in (f"clang++ -Winvalid-pch -Xclang -include-pch -Xclang pre.pch -Xclang -include -Xclang pre.h {FLAGS} -c a.cpp",
                        f"g++ -Winvalid-pch -include pre.h {FLAGS} -c a.cpp"):
            with self.subTest(command):
                report = self.run_with(command)
                self.assertEqual(([f["rule"] for f in report["findings"]], report["not_analysed"]), ([RULE], []))

    def test_other_languages_are_left_to_their_tools(self):
        self.write(b__S=".text\n", c__rs="fn main() {}\n")
        self.entries = [{"directory": str(self.folder), "file": "a.cpp", "command": f"g++ {FLAGS} -c a.cpp"},
                        {"directory": str(self.folder), "file": "b.S", "command": "gcc -c b.S"},
                        {"directory": str(self.folder), "file": "c.rs", "command": "rustc c.rs"}]
        self.compiled()
        for sources in ([], ["."]):
            report = self.report("-p", "build", *sources, status=1)
            self.assertEqual((len(report["findings"]), report["not_analysed"]), (1, []))

    def test_compilers_that_are_not_understood(self):
        for command, word in (("clang-cl /std:c++17 /c a.cpp", "clang-cl"), ("C:/VS/cl.exe /c a.cpp", "cl.exe"),
                              ("clang --driver-mode=cl /c a.cpp", "MSVC")):
            with self.subTest(command):
                entries = self.run_with(command)["not_analysed"]
                self.assertEqual([entry["reason"] for entry in entries], ["parse-error"])
                self.assertIn(word, entries[0]["detail"])
                self.assertIn("not understood", entries[0]["detail"])


project.main()
