"""Fixes where the text is not plain: comments and directives in an expression, bytes that are not UTF-8, files with errors,
files of several names."""
import os
import shutil
import subprocess

import project

KEEP = "at::Tensor scores(at::Tensor q, const at::Tensor& k, const at::Tensor& w) {\n"
WIDE = KEEP + "  q = q * w;\n  return attend(q, k, k);\n}\n"
FIXED = WIDE.replace("q * w;", "(q * w).to(q.scalar_type());")
# The wide value is used twice: what the call gets is cast.
TWICE = KEEP + "  at::Tensor s = q * w;\n  at::Tensor out = CALL;\n  return s + out;\n}\n"
USE = "int main() {\n  scores(torch::ones({2, 2}, at::kHalf), torch::ones({2, 2}, at::kHalf), torch::ones({2, 2}, at::kFloat));\n}\n"


class Places(project.Case):
    def fix(self, text, status=0):
        """What --fix makes of the file."""
        self.write(a__cpp=text)
        self.entries.clear()
        self.compiled("a.cpp")
        run = self.lint("-p", "build", "--fix")
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        self.said = run.stderr
        return (self.folder / "a.cpp").read_bytes()

    def exported(self):
        """What clang-apply-replacements makes of a.cpp; nothing where it is not installed."""
        (self.folder / "out").mkdir(exist_ok=True)
        self.lint("-p", "build", "--export-fixes", "out/f.yaml")
        applier = next(filter(None, (shutil.which(f"clang-apply-replacements-{n}") for n in (22, 21, 20, 19))), None)
        if applier is None:
            print("clang-apply-replacements is not installed: exported fixes were not applied")
            return None
        subprocess.run([applier, str(self.folder / "out")], check=True)
        return (self.folder / "a.cpp").read_bytes()

    def test_comments_in_a_call(self):
        for before, after in (("attend(/*q=*/s, /*k, (the keys)=*/k, k)", "attend(/*q=*/s.to(k.scalar_type()), /*k, (the keys)=*/k, k)"),
                              ("attend(s /*q*/, k, k)", "attend(s.to(k.scalar_type()) /*q*/, k, k)"),
                              ("attend(s,  // don't (ever\n    k, k)", "attend(s.to(k.scalar_type()),  // don't (ever\n    k, k)")):
            with self.subTest(before):
                self.assertEqual(self.fix(TWICE.replace("CALL", before) + USE).decode(), TWICE.replace("CALL", after) + USE)

    def test_other_uses_of_the_wide_value_stay_wide(self):
        """Where it escapes or is used in other arithmetic, the cast stands at the call or nowhere."""
        made = "  at::Tensor s = q * w;\n"
        call, cast = "attend(s, k, k)", "attend(s.to(k.scalar_type()), k, k)"
        head = "struct Keeper {{ at::Tensor wide; }};\nvoid consume(const at::Tensor&);\n" + KEEP.replace("w) {", "w{0}) {{")
        for more, use in ((", at::Tensor& out", "  out = s;\n"), (", Keeper& keeper", "  keeper.wide = s;\n"),
                          (", std::vector<at::Tensor>& log", "  log.push_back(s);\n"), ("", "  consume(s);\n"),
                          ("", "  k * s.cos();\n"), ("", "  float* raw = s.data_ptr<float>();\n")):
            with self.subTest(use):
                text = head.format(more) + made + use + "  return " + call + ";\n}\n"
                extra = ("  Keeper keeper;\n" * ("keeper" in more) + "  at::Tensor out;\n" * ("out" in more)
                         + "  std::vector<at::Tensor> log;\n" * ("log" in more))
                arguments = ", " + more.split()[-1].lstrip("&") if more else ""
                main = USE.replace("{\n", "{\n" + extra, 1).replace("at::kFloat)", "at::kFloat)" + arguments)
                self.assertEqual(self.fix(text + main).decode(), text.replace(call, cast) + main)
                # Several calls, and what asks for the shape: nothing else would notice.
        text = KEEP + made + "  TORCH_CHECK(s.dim() == 2);\n  attend(s, k, k);\n  return attend(s, k, k);\n}\n"
        self.assertIn("s = (q * w).to(q.scalar_type());", self.fix(text + USE).decode())

    def test_a_call_with_a_macro_for_some_of_its_arguments(self):
        text = ("#define REST k, k, 1.0f, true\nat::Tensor more(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, float, bool,"
                " int = 3) { return attend(q, k, v); }\n" + KEEP + "  at::Tensor s = q * w;\n  return s + more(s, REST);\n}\n")
        for words in ("s, k, k, 1.0f, true", "s, k, k, 1.0f, true, 4"):
            plain = text.replace("s, REST", words)
            self.assertEqual(self.fix(plain + USE).decode(), plain.replace("(s, k", "(s.to(k.scalar_type()), k") + USE)
        text = text.replace("REST k, k,", "REST k,").replace("s, REST", "s, k, REST")
        self.assertEqual(self.fix(text + USE).decode(), text.replace("(s, k", "(s.to(k.scalar_type()), k") + USE)

    def test_the_dtype_is_not_taken_from_what_is_moved_from(self):
        keep = "at::Tensor keep(at::Tensor t) { return t; }\n" + KEEP.replace("const at::Tensor& k", "at::Tensor k")
        one = keep + "  at::Tensor s = keep(std::move(q)) * w;\n  return attend(s, k, k);\n}\n"
        self.assertIn("(keep(std::move(q)) * w).to(k.scalar_type())", self.fix("#include <utility>\n" + one + USE).decode())
        two = keep + "  at::Tensor x = std :: move( q );\n  at::Tensor s = keep(x) * w;\n  return attend(s, std::move(k), x);\n}\n"
        self.assertNotIn("q.scalar_type()", self.fix("#include <utility>\n" + two + USE).decode())

    def test_what_is_compiled_in_parts_is_not_edited(self):
        text = KEEP + "  q = q *\n#ifdef SCALED\n      2.0f;\n#else\n      w;\n#endif\n  return attend(q, k, k);\n}\n" + USE
        after = self.fix(text).decode()
        self.assertEqual(after, text.replace("attend(q, k, k)", "attend(q.to(k.scalar_type()), k, k)"), self.said)
        self.entries.clear()
        self.compiled("a.cpp", flags="-DSCALED")
        self.assertEqual(self.lint("-p", "build").returncode, 0, "the other branch does not compile any more")

    def test_bytes_that_are_not_utf8_are_exported_as_they_are(self):
        text = (WIDE.replace("q * w", "q * /*\xe9*/ w") + USE).encode("latin-1")
        self.write(a__cpp=text)
        self.compiled("a.cpp")
        wanted = text.replace(b"q * /*\xe9*/ w", b"(q * /*\xe9*/ w).to(q.scalar_type())")
        after = self.exported()
        if after is not None:
            self.assertEqual(after, wanted)
        self.assertEqual(self.fix(text), wanted)

    def test_a_file_with_errors_is_not_edited(self):
        text = WIDE + USE + "int broken = missing;\n"
        self.assertEqual(self.fix(text, status=3).decode(), text)
        self.assertIn("compiled with errors, correct these first: a.cpp:8: use of undeclared identifier 'missing'", self.said)
        self.assertIn(self.exported(), (None, text.encode()))
        self.assertIn("      Replacements:    []", (self.folder / "out" / "f.yaml").read_text())

    def test_a_header_is_edited_though_one_of_its_users_has_errors(self):
        broken = '#include "h.h"\nint broken = missing;\n'
        self.write(h__h="#pragma once\ninline " + WIDE, b__cpp=broken, a__cpp='#include "h.h"\n' + USE)
        self.compiled("a.cpp", "b.cpp")
        self.assertEqual(self.lint("-p", "build", "--fix").returncode, 3)
        self.assertEqual((self.folder / "h.h").read_text(), "#pragma once\ninline " + FIXED)
        # Where the edit adds an error to those, it is not made.
        self.write(h__h="#pragma once\ninline " + WIDE, b__cpp="#define scalar_type nonsense\n" + broken)
        run = self.lint("-p", "build", "--fix")
        self.assertIn("no member named 'nonsense'", run.stderr)
        self.assertEqual((self.folder / "h.h").read_text(), "#pragma once\ninline " + WIDE)

    def test_a_file_of_two_names_is_edited_once(self):
        self.write(real_in_h__h="#pragma once\ninline " + WIDE, a__cpp='#include "real/h.h"\n' + USE,
                   b__cpp='#include "link/h.h"\n' + USE.replace("main", "other"))
        (self.folder / "link").symlink_to("real")
        self.compiled("a.cpp", "b.cpp")
        run = self.lint("-p", "build", "--fix")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("in 1 file\n", run.stderr)
        self.assertEqual((self.folder / "real" / "h.h").read_text(), "#pragma once\ninline " + FIXED)
        self.assertTrue((self.folder / "link").is_symlink())

    def test_what_root_edits_stays_its_owners(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give files away")
        self.write(a__cpp=WIDE + USE)
        os.chown(self.folder / "a.cpp", 12345, 23456)
        self.fix(WIDE + USE)
        status = (self.folder / "a.cpp").stat()
        self.assertEqual((status.st_uid, status.st_gid), (12345, 23456))


project.main()
