"""Fixes: what is offered, what --fix does to files, and what --export-fixes writes."""
import json
import os
import pathlib
import resource
import shutil
import subprocess

import project

KEEP = "at::Tensor scores(at::Tensor q, const at::Tensor& k, const at::Tensor& w) {\n"
WIDE = KEEP + "  q = q * w;\n  return attend(q, k, k);\n}\n"
FIXED = KEEP + "  q = (q * w).to(q.scalar_type());\n  return attend(q, k, k);\n}\n"
# A half q and a float32 table, stated by the code so that no setting decides.
USE = "int main() {\n  scores(torch::ones({2, 2}, at::kHalf), torch::ones({2, 2}, at::kHalf), torch::ones({2, 2}, at::kFloat));\n}\n"


class Fixes(project.Case):
    def fixed(self, text, use=USE, name="a.cpp", more=(), status=0):
        """The file after --fix, which must leave nothing to find and nothing to fix."""
        self.write(**{name.replace(".", "__"): text + use})
        if not any(entry["file"] == name for entry in self.entries):
            self.compiled(name)
        before = (self.folder / name).read_text()
        self.assertEqual(self.lint("-p", "build").returncode, 1, "nothing to fix in the first place")
        run = self.lint("-p", "build", "--fix", *more)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        after = (self.folder / name).read_text()
        if status == 0:
            self.assertNotEqual(before, after)
            self.assertIn("dtype-lint: fixed", run.stderr)
            again = self.lint("-p", "build", "--fix", cache=False)
            self.assertEqual((again.returncode, again.stderr), (0, ""))
            self.assertEqual((self.folder / name).read_text(), after, "fixing what is fixed changes it")
        return after.removesuffix(use)

    def test_the_cast_stands_behind_the_arithmetic(self):
        self.assertEqual(self.fixed(WIDE), FIXED)

    def test_reports_hold_the_edits(self):
        self.write(a__cpp=WIDE + USE)
        self.compiled("a.cpp")
        fixes = self.report(status=1)["findings"][0]["fixes"]
        self.assertEqual(fixes, [{"title": "cast back to the dtype of 'q' after the float32 arithmetic", "verified": True,
                                  "edits": [{"file": "a.cpp", "line": 2, "column": 7, "end_line": 2, "end_column": 12,
                                             "replacement": "(q * w).to(q.scalar_type())"}]}])
        sarif = json.loads(self.lint("-p", "build", "--format=sarif").stdout)
        change = sarif["runs"][0]["results"][0]["fixes"][0]["artifactChanges"][0]
        self.assertEqual(change["replacements"][0]["insertedContent"]["text"], "(q * w).to(q.scalar_type())")
        rdjson = json.loads(self.lint("-p", "build", "--format=rdjson").stdout)
        self.assertEqual(rdjson["diagnostics"][0]["suggestions"][0]["text"], "(q * w).to(q.scalar_type())")
        gitlab = json.loads(self.lint("-p", "build", "--format=gitlab").stdout)
        self.assertIn("cast back to the dtype of 'q'", gitlab[0]["content"]["body"])
        self.assertIn("  fix: cast back to the dtype of 'q'", self.lint("-p", "build").stdout)
        self.assertEqual((self.folder / "a.cpp").read_text(), WIDE + USE, "only --fix changes files")

    def test_a_later_cast_comes_first(self):
        text = KEEP + "  q = q * w;\n  q = q + w;\n  return attend(q, k, k);\n}\n"
        self.assertEqual(self.fixed(text), KEEP + "  q = q * w;\n  q = (q + w).to(k.scalar_type());\n"
                                                  "  return attend(q, k, k);\n}\n")

    def test_a_wide_value_with_other_uses_stays_wide(self):
        text = KEEP + "  at::Tensor s = q * w;\n  at::Tensor out = attend(s, k, k);\n  return s + out;\n}\n"
        self.assertEqual(self.fixed(text), KEEP + "  at::Tensor s = q * w;\n"
                         "  at::Tensor out = attend(s.to(k.scalar_type()), k, k);\n  return s + out;\n}\n")

    def test_names_that_are_never_rebound(self):
        text = ("at::Tensor scores(const at::Tensor& x, const at::Tensor& y, const at::Tensor& w) {\n"
                "  const at::Tensor q = x.view({2, 2});\n  const at::Tensor k = y.view({2, 2});\n"
                "  const at::Tensor wide = q * w;\n  return attend(wide, k, k);\n}\n")
        self.assertIn("  const at::Tensor wide = (q * w).to(q.scalar_type());\n", self.fixed(text))
        more = text.replace("return attend(wide, k, k);", "return attend(wide, k, k) + wide;")
        self.assertIn("  return attend(wide.to(k.scalar_type()), k, k) + wide;\n", self.fixed(more))

    def test_the_next_edit_where_one_does_not_stand_the_test(self):
        # What `h` was is known to the IR, and the name is gone where the cast would stand.
        inner = "  at::Tensor q;\n  {\n    at::Tensor h = x.view({2, 2});\n    q = h * w;\n  }\n  q = q + w;\n"
        text = "at::Tensor scores(const at::Tensor& x, const at::Tensor& k, const at::Tensor& w) {\n" + inner
        wanted = text.replace("q + w;", "(q + w).to(x.scalar_type());")
        end = "  return attend(q, k, k);\n}\n"
        self.assertEqual(self.fixed(text + end), wanted + end)
        other = ("at::Tensor more(at::Tensor q, const at::Tensor& k, const at::Tensor& w) {\n  q = q * w;\n  return attend(q, k, k);\n}\n")
        use = USE.replace("}\n", "  more(torch::ones({2, 2}, at::kHalf), torch::ones({2, 2}, at::kHalf), torch::ones({2, 2}, at::kFloat));\n}\n")
        both = self.fixed(text + end + other, use)
        self.assertEqual(both, wanted + end + other.replace("q * w;", "(q * w).to(q.scalar_type());"))
        self.write(a__cpp=text + end + USE)
        run = self.lint("-p", "build", "--export-fixes", "fixes.yaml")
        self.assertIn("x.scalar_type()", (self.folder / "fixes.yaml").read_text())
        self.assertEqual(run.stderr, "", "what was fixed in another way is not worth a word")

    def test_some_edits_are_tried_on_the_text_and_not_all(self):
        names = "abcd"
        inner = "".join(f"    at::Tensor {n} = x().view({{2, 2}});\n" for n in names)
        text = ("at::Tensor x() { return torch::ones({2, 2}, at::kHalf); }\nint main() {\n  at::Tensor q;\n  const at::Tensor w = "
                "torch::ones({2, 2}, at::kFloat);\n  {\n" + inner + "    q = torch::cat({" + ", ".join(names) +
                ", w});\n  }\n  q = q + w;\n  attend(q, x(), x());\n}\n")
        self.write(a__cpp=text)
        self.compiled("a.cpp")
        run = self.lint("-p", "build", "--fix")
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertIn("not fixed: the edited text does not compile: a.cpp:12: use of undeclared identifier 'a'", run.stderr)
        self.assertEqual((self.folder / "a.cpp").read_text(), text)

    def test_crlf_utf8_and_the_missing_last_newline_stay(self):
        text = ("// Größe: ∑ über alle Köpfe\n" + WIDE + USE).replace("\n", "\r\n").removesuffix("\r\n")
        path = self.folder / "a.cpp"
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())
        self.compiled("a.cpp")
        os.chmod(path, 0o640)
        run = self.lint("-p", "build", "--fix")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        wanted = text.replace("q * w;", "(q * w).to(q.scalar_type());")
        self.assertEqual(path.read_bytes(), b"\xef\xbb\xbf" + wanted.encode())
        self.assertEqual(path.stat().st_mode & 0o777, 0o640)

    def test_bytes_that_are_not_utf8_stay(self):
        self.write(a__cpp=b"// Gr\xf6\xdfe\n" + (WIDE + USE).encode())
        self.compiled("a.cpp")
        self.assertEqual(self.lint("-p", "build", "--fix").returncode, 0)
        self.assertEqual((self.folder / "a.cpp").read_bytes(), b"// Gr\xf6\xdfe\n" + (FIXED + USE).encode())

    def test_an_expression_over_several_lines(self):
        text = KEEP + "  q = q *\n      w;\n  return attend(q, k, k);\n}\n"
        self.assertEqual(self.fixed(text), KEEP + "  q = (q *\n      w).to(q.scalar_type());\n  return attend(q, k, k);\n}\n")

    def test_a_template_is_fixed_for_all_its_instantiations(self):
        text = "template <int N>\n" + WIDE
        use = ("int main() {\n  at::Tensor h = torch::ones({2, 2}, at::kHalf), f = torch::ones({2, 2}, at::kFloat);\n"
               "  scores<1>(h, h, f);\n  scores<2>(h, h, f);\n}\n")
        self.assertEqual(self.fixed(text, use), "template <int N>\n" + FIXED)

    def test_nothing_in_a_macro_is_offered(self):
        for body in ("#define TIMES(a, b) ((a) * (b))\n" + KEEP + "  q = TIMES(q, w);\n  return attend(q, k, k);\n}\n",
                     "#define SAME(x) (x)\n" + KEEP + "  return SAME(attend(q * w, k, k));\n}\n",
                     "#define BODY q = q * w\n" + KEEP + "  BODY;\n  return attend(q, k, k);\n}\n"):
            with self.subTest(body):
                self.write(a__cpp=body + USE)
                self.entries.clear()
                self.compiled("a.cpp")
                edits = [e for f in self.report(status=1)["findings"] for x in f["fixes"] for e in x["edits"]]
                self.assertFalse([e for e in edits if e["line"] != 4], edits)
                run = self.lint("-p", "build", "--fix")
                text = (self.folder / "a.cpp").read_text()
                self.assertEqual(text.splitlines()[:3], body.splitlines()[:3], run.stderr)

    def test_the_projects_headers_are_fixed_and_no_others(self):
        outside = self.scratch / "outside"
        outside.mkdir()
        self.write(inner__h="#pragma once\ninline " + WIDE)
        self.write(a__cpp='#include "inner.h"\n' + USE, b__cpp='#include "inner.h"\nvoid none() {}\n')
        self.compiled("a.cpp", "b.cpp")
        run = self.lint("-p", "build", "--fix")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertEqual((self.folder / "inner.h").read_text(), "#pragma once\ninline " + FIXED)

        (outside / "outer.h").write_text("#pragma once\ninline " + WIDE)
        self.write(a__cpp='#include "outer.h"\n' + USE)
        self.entries.clear()
        for flag in ("-I", "-isystem "):
            self.compiled("a.cpp", flags=f"{flag}{outside}")
            self.lint("-p", "build", "--fix")
            self.assertEqual((outside / "outer.h").read_text(), "#pragma once\ninline " + WIDE)
            self.entries.clear()

    def test_a_link_out_of_the_project_is_not_followed(self):
        target = self.scratch / "elsewhere.cpp"
        target.write_text(WIDE + USE)
        (self.folder / "a.cpp").symlink_to(target)
        self.compiled("a.cpp")
        run = self.lint("-p", "build", "--fix")
        self.assertEqual(run.returncode, 1)
        self.assertIn("'a.cpp' is outside the project folder", run.stderr)
        self.assertEqual(target.read_text(), WIDE + USE)

    def test_one_edit_for_two_findings_and_two_edits_in_one_file(self):
        text = ("void pair(at::Tensor q, at::Tensor k, const at::Tensor& v, const at::Tensor& w) {\n"
                "  q = q * w;\n  k = k * w;\n  attend(q, k, v);\n}\n")
        use = USE.replace("scores(", "pair(torch::ones({2, 2}, at::kHalf), ")
        after = self.fixed(text, use)
        self.assertIn("  q = (q * w).to(q.scalar_type());\n  k = (k * w).to(k.scalar_type());\n", after)

    def test_a_dropped_cast_is_assigned(self):
        text = ("void drop(at::Tensor q, const at::Tensor& k) {\n  q.to(at::kHalf);\n  attend(q, k, k);\n}\n")
        use = "int main() {\n  drop(torch::ones({2, 2}, at::kFloat), torch::ones({2, 2}, at::kHalf));\n}\n"
        self.assertIn("  q = q.to(at::kHalf);\n", self.fixed(text, use))

    def test_tables_are_raised_to_what_was_widened_on_purpose(self):
        text = ("void turn(const at::Tensor& x, const at::Tensor& freqs) {\n  at::Tensor wide = x.to(at::kFloat);\n"
                "  at::Tensor cos = freqs.cos();\n  rotary(wide, cos, cos);\n}\n")
        use = "int main() {\n  turn(torch::ones({2, 2}, at::kHalf), torch::ones({2, 2}, at::kHalf));\n}\n"
        self.assertIn("  rotary(wide, cos.to(wide.scalar_type()), cos.to(wide.scalar_type()));\n", self.fixed(text, use))

    def test_only_open_findings_are_fixed(self):
        self.write(a__cpp=(WIDE + USE).replace("q * w;", "q * w;  // NOLINT(dtype-*): a test"))
        self.compiled("a.cpp")
        before = (self.folder / "a.cpp").read_text()
        self.lint("-p", "build", "--fix")
        self.assertEqual((self.folder / "a.cpp").read_text(), before)
        self.write(a__cpp=WIDE + USE)
        self.lint("-p", "build", "--write-baseline", "known.json")
        run = self.lint("-p", "build", "--baseline", "known.json", "--fix")
        self.assertEqual((run.returncode, (self.folder / "a.cpp").read_text()), (0, WIDE + USE), run.stderr)
        self.lint("-p", "build", "--fix", "--rules", "-attention-implicit-promotion,-attention-mixed-dtypes,"
                  "-attention-unsupported-dtype,-autocast-fp32-operator")
        self.assertEqual((self.folder / "a.cpp").read_text(), WIDE + USE)

    def test_what_cannot_be_written_is_said(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everything")
        self.write(a__cpp=WIDE + USE)
        self.compiled("a.cpp")
        os.chmod(self.folder / "a.cpp", 0o444)
        run = self.lint("-p", "build", "--fix")
        self.assertEqual(run.returncode, 1)
        self.assertIn("cannot be written", run.stderr)

    def test_fix_needs_sources_at_hand(self):
        self.write(a__cpp=WIDE + USE)
        self.compiled("a.cpp")
        self.lint("-p", "build", "--emit-summary", "a.sum", "a.cpp")
        for arguments, named in ((["--link", "a.sum"], "--link"), (["-p", "build", "--emit-summary", "b.sum", "a.cpp"],
                                 "--emit-summary"), (["-p", "build", "--stdin-filename", "a.cpp"], "--stdin-filename"),
                                 (["-p", "build", "--dump-flow", "a.cpp"], "--dump-flow")):
            for option in (["--fix"], ["--export-fixes", "f.yaml"]):
                run = self.lint(*option, *arguments, stdin="")
                self.assertEqual(run.returncode, 2, run.stderr)
                self.assertIn(named, run.stderr)
        run = self.lint("-p", "build", "--export-fixes", "no/such/folder/f.yaml")
        self.assertEqual(run.returncode, 2)
        self.assertIn("--export-fixes: cannot write 'no/such/folder/f.yaml'", run.stderr)

    def test_fixing_33_findings_costs_at_most_five_times_their_lint(self):
        one = ("at::Tensor scores{0}(at::Tensor q, const at::Tensor& k) {{\n  q = q * torch::ones({{8}});\n"
               "  at::Tensor r = q;\n  return attend(r, k, k);\n}}\n")
        self.write(many__cpp="".join(one.format(number) for number in range(33)))
        self.compiled("many.cpp")

        def spent(*more):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            run = self.lint("-p", "build", *more, cache=False)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return run, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        lint, linting = spent()
        self.assertIn("33 errors", lint.stdout)
        fix, fixing = spent("--fix")
        self.assertIn("fixed 33 findings in 1 file", fix.stderr)
        self.assertLess(fixing, 5 * linting)

    def test_a_rejected_edit_is_told_with_setting_root_and_operand(self):
        own = {"schema": "dtype-guard/contracts/1", "library": "mine", "apis": [
            {"name": "my_attention", "kind": "attention", "spellings": ["my::attention"], "operands": [
                {"role": "q", "argument": 0, "accepts": ["half"]}, {"role": "k", "argument": 1, "accepts": ["float32"]}]}]}
        self.write(own__json=json.dumps(own), a__cpp=(
            "namespace my { void attention(const at::Tensor& q, const at::Tensor& k); }\n"
            "void both(at::Tensor q, const at::Tensor& w) {\n  q = q * w;\n  my::attention(q, q);\n}\n"
            "int main() { both(torch::ones({2, 2}, at::kHalf), torch::ones({2, 2}, at::kFloat)); }\n"))
        self.compiled("a.cpp")
        told = self.lint("-p", "build", "--fix", "--contracts", "own.json").stderr
        self.assertRegex(told, r"a\.cpp:3:7: no fix is offered for [a-z-]+; tried: .*: under '\S+'.* 'k' of 'my_attention' at "
                               r"a\.cpp:4")
        self.assertNotIn("tried:", self.lint("-p", "build", "--contracts", "own.json").stderr)

    def test_exported_fixes_are_applied_by_clang(self):
        text = "// über '\n" + WIDE
        self.write(a__cpp=text + USE)
        self.compiled("a.cpp")
        (self.folder / "out").mkdir()
        run = self.lint("-p", "build", "--export-fixes", "out/f.yaml")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertEqual((self.folder / "a.cpp").read_text(), text + USE, "exporting changes nothing")
        exported = (self.folder / "out" / "f.yaml").read_text()
        self.assertIn("DiagnosticName:  dtype-attention-implicit-promotion\n", exported)
        offset = (text + USE).encode().index(b"q * w;")
        for at, what in ((offset, "("), (offset + 5, ").to(q.scalar_type())")):
            self.assertIn(f"Offset:          {at}\n          Length:          0\n          ReplacementText: '{what}'\n", exported)
        applier = next(filter(None, (shutil.which(f"clang-apply-replacements-{n}") for n in (22, 21, 20, 19))), None)
        if applier is None:
            print("clang-apply-replacements is not installed: the file was compared, not applied")
            return
        subprocess.run([applier, str(self.folder / "out")], check=True)
        self.assertEqual((self.folder / "a.cpp").read_text(), "// über '\n" + FIXED + USE)
        self.assertEqual(self.lint("-p", "build", "--export-fixes", "out/f.yaml").returncode, 0)
        self.assertIn("Diagnostics:     []", (self.folder / "out" / "f.yaml").read_text())

    def test_an_exported_name_that_is_no_utf8_leaves_the_file_readable(self):
        name = os.fsdecode(b"b\xff.py")
        shutil.copy(pathlib.Path(__file__).parents[3] / "examples/first/attend.py", self.folder / name)
        run = self.lint("--export-fixes", "f.yaml", name)
        self.assertEqual(run.returncode, 1, run.stderr)
        exported = (self.folder / "f.yaml").read_bytes().decode("utf-8")
        self.assertIn("b\N{REPLACEMENT CHARACTER}.py", exported)

    def test_a_killed_run_leaves_whole_files(self):
        self.write(a__cpp=WIDE + USE)
        self.compiled("a.cpp")
        process = subprocess.Popen([project.LINT, "-p", "build", "--fix", "--no-cache"], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(0.05)
        except subprocess.TimeoutExpired:
            process.send_signal(2)
            process.wait()
        self.assertIn((self.folder / "a.cpp").read_text(), (WIDE + USE, FIXED + USE))
        self.assertEqual([p.name for p in self.folder.glob("*.tmp")], [])


project.main()
