"""No finding and no sight are different answers: the closing line and the JSON report tell how many attention calls were
checked, and which operands stayed unknown. A libtorch that lies inside the project changes neither findings nor sight.

    sight.py DTYPE_LINT MINI_TORCH
"""
import unittest

import project

KNOWN = ('#include "attention.h"\n'
         "at::Tensor scores(const at::Tensor& q, const at::Tensor& k) { return attend(q, k, k); }\n")
UNKNOWN = ('#include "attention.h"\n'
           "at::Tensor made_elsewhere(int);\n"
           "at::Tensor scores(const at::Tensor& k) { return attend(made_elsewhere(1), k, k); }\n")
BY_HAND = ("at::Tensor made_elsewhere(int);\n"
           "at::Tensor scores(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {\n"
           "  at::Tensor weights = at::matmul(GIVEN, k.transpose(1, 2)).softmax(-1).to(v.scalar_type());\n"
           "  return at::matmul(weights, v);\n}\n")
# Headers of a library whose inline functions hide the operator that widens.
LIBRARY = ("#pragma once\nnamespace at { namespace _ops { Tensor call(const Tensor&, const Tensor&); }\n"
           "inline Tensor mul(const Tensor& a, const Tensor& b) { return _ops::call(a, b); } }\n")
WIDENED = ('#include "attention.h"\n#include <ATen/ops/mul.h>\n'
           "at::Tensor scores(const at::Tensor& q, const at::Tensor& k) {\n"
           "  return attend(at::mul(q, torch::ones({8}, at::kFloat)), k, k);\n}\n")
LAYOUTS = {  # an include folder, and a file that the package has besides
    "an unpacked libtorch": ("libtorch/include", "libtorch/share/cmake/Torch/TorchConfig.cmake"),
    "a wheel's folder": ("deps/torch/include", "deps/torch/share/cmake/Torch/TorchConfig.cmake"),
    "a wheel's headers alone": ("deps/torch/include", "deps/torch/include/ATen/ATen.h"),
    "a copied sysroot": ("sysroot/usr/include", "sysroot/usr/lib/cmake/Torch/TorchConfig.cmake"),
    "headers beside no library": ("headers", "headers/c10/core/ScalarType.h"),
    "no mark at all": ("vendored", "vendored/README"),
}


class Sight(project.Case):
    def closing(self, *arguments):
        return self.lint("-p", "build", *arguments).stdout.splitlines()[-1]

    def project_of(self, text):
        self.write(a__cpp=text)
        self.compiled("a.cpp")

    def test_calls_are_counted(self):
        self.project_of(KNOWN)
        self.assertEqual(self.closing(), "no findings; 2 attention calls checked; 1 file analysed")
        report = self.report(status=0)
        self.assertEqual((report["summary"]["calls"], report["summary"]["undecided"]), (2, 0))
        self.assertEqual([(c["api"], c["location"]["file"], c["reached"], c["unknown"]) for c in report["calls"]],
                         [("flash_ref_attention_fwd", "attention.h", True, []),
                          ("flash_ref_rotary", "attention.h", True, [])])

    def test_what_is_not_known_is_not_called_checked(self):
        self.project_of(UNKNOWN)
        self.assertEqual(self.closing(),
                         "no findings; 1 attention call checked, 1 not decided (--strict lists them); 1 file analysed")
        strict = self.lint("-p", "build", "--strict")
        self.assertEqual(strict.returncode, 0, strict.stdout)
        self.assertRegex(strict.stdout, r"^attention\.h:\d+:\d+: 'flash_ref_attention_fwd' is not decided: the dtype of 'q' is not known "
                                        r"\(attend\)\n(.*\n)*.*1 not decided; 1 file analysed\n$")
        self.assertIn("1 attention call checked, 1 not decided; ", strict.stdout)
        unknown = [call["unknown"] for call in self.report()["calls"]]
        self.assertEqual(unknown, [["q"], []])

    def test_attention_written_by_hand_is_counted(self):
        self.project_of(BY_HAND.replace("GIVEN", "q"))
        self.assertEqual(self.closing(), "no findings; 4 attention calls checked; 1 file analysed")  # 2 in attention.h
        self.project_of(BY_HAND.replace("GIVEN", "made_elsewhere(1)"))
        self.assertEqual(self.closing(),
                         "no findings; 3 attention calls checked, 1 not decided (--strict lists them); 1 file analysed")
        self.assertEqual([call["unknown"] for call in self.report()["calls"] if call["api"] == "matmul"], [["left"], []])

    def test_a_file_without_attention_says_so(self):
        self.project_of("int main() { return 0; }\n")
        self.assertEqual(self.closing(), "no findings; no attention call was seen; 1 file analysed")

    def test_a_file_with_errors_says_what_they_took(self):
        lost = ("return flash_attention(q, missing);", "return rotary_embed(q, q);", "auto x = lost::flash_attention(q, q); return x;",
                "Missing x = flash_attention(q, q); return q;")
        for body in lost:
            with self.subTest(body):
                name = "rotary_embed" if "rotary_embed" in body else "flash_attention"
                self.project_of(f"at::Tensor flash_attention(const at::Tensor&, const at::Tensor&);\n"
                                f"at::Tensor scores(const at::Tensor& q) {{ {body} }}\n")
                run = self.lint("-p", "build", "--no-cache")
                self.assertEqual(run.returncode, 3, run.stdout)
                self.assertIn("1 call spelt like attention left no record: 1 in files that could not be read wholly "
                              f"('{name}' at a.cpp:2)\n", run.stdout)
        self.project_of(KNOWN + "int after = missing;\n")
        self.assertNotIn("spelt like attention", self.lint("-p", "build", "--no-cache").stdout, "what was lowered is not lost")

    def test_a_library_inside_the_project_hides_nothing(self):
        for layout, (include, mark) in LAYOUTS.items():
            for option in ("-I", "-isystem"):
                with self.subTest(layout, option=option):
                    self.setUp()
                    self.write(a__cpp=WIDENED)
                    for name, text in ((f"{include}/ATen/ops/mul.h", LIBRARY), (mark, "")):
                        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                        (self.folder / name).write_text(text)
                    self.compiled("a.cpp", flags=f"{option} {self.folder / include}")
                    report = self.report(status=1)
                    self.assertEqual([(f["location"]["file"], f["location"]["line"]) for f in report["findings"]],
                                     [("a.cpp", 4)])
                    self.assertEqual(report["summary"]["undecided"], 0)


if __name__ == "__main__":
    project.main()
