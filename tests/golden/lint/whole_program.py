"""dtype-lint over several files: one finding where one file promotes and another calls the kernel."""
import json


import project

ROTATE = ("at::Tensor widen(const at::Tensor& x);\n"
          "void rotate(const at::Tensor& x, const at::Tensor& freqs) {\n"
          "  rotary(widen(x), freqs, freqs);\n"
          "}\n")
WIDEN = "at::Tensor widen(const at::Tensor& x) {\n  return x.to(at::kFloat);\n}\n"
KEEP = "at::Tensor widen(const at::Tensor& x) {\n  return x;\n}\n"
RULE = "rotary-dtype-mismatch"


class WholeProgram(project.Case):
    def test_a_helper_in_one_file_and_the_call_in_another_are_one_finding(self):
        self.write(helper__cpp=WIDEN, model__cpp=ROTATE)
        self.compiled("helper.cpp", "model.cpp")
        findings = self.report(status=1)["findings"]
        self.assertEqual([(f["rule"], f["location"]["file"], f["location"]["line"]) for f in findings],
                         [(RULE, "helper.cpp", 2)])
        path = [(step["file"], step["line"]) for step in findings[0]["path"]]
        self.assertEqual(path[0], ("helper.cpp", 2))
        self.assertIn(("model.cpp", 3), path)
        self.assertEqual([(s["role"], s["file"]) for s in findings[0]["sinks"]][0][0], "x")
        self.assertEqual(self.found("-p", "build", "model.cpp", status=0), [], "the helper is not known alone")

    def test_a_header_that_many_files_include_is_reported_once(self):
        inline = "#pragma once\n" + ROTATE.replace("void", "inline void").replace(
            "at::Tensor widen(const at::Tensor& x);\n", "inline at::Tensor widen(const at::Tensor& x) { return x.to(at::kFloat); }\n")
        template = "template <typename T> void all(T x) { rotary(x.to(at::kFloat), x, x); }\n"
        self.write(h__h=inline + template, a__cpp='#include "h.h"\nvoid a(at::Tensor x) { rotate(x, x); all(x); }\n',
                   b__cpp='#include "h.h"\nvoid b(at::Tensor x) { rotate(x, x); all(x); }\n')
        self.compiled("a.cpp", "b.cpp")
        findings = self.report(status=1)["findings"]
        self.assertEqual([(f["rule"], f["location"]["file"], f["location"]["line"]) for f in findings],
                         [(RULE, "h.h", 2), (RULE, "h.h", 6)])
        self.assertEqual(len({f["fingerprint"] for f in findings}), 2)

    def test_static_functions_of_one_name_in_two_files_do_not_collide(self):
        body = "void use_{0}(at::Tensor x) {{ rotary(widen(x), x, x); }}\n"
        for first, second in ((WIDEN, KEEP), (KEEP, WIDEN)):
            self.write(a__cpp="static " + first + body.format("a"), b__cpp="static " + second + body.format("b"))
            self.compiled("a.cpp", "b.cpp")
            bad = "a.cpp" if first == WIDEN else "b.cpp"
            self.assertEqual(self.found(status=1), [(RULE, bad, 2)])
            self.entries.clear()

    def test_a_function_named_like_a_contract_s_is_what_its_body_makes_of_it(self):
        head = "namespace mine { at::Tensor mha_fwd(at::Tensor q, at::Tensor k, at::Tensor v, at::Tensor out, at::Tensor alibi_slopes)"
        call = head + "; }\nvoid run(at::Tensor x, at::Tensor out, at::Tensor slopes) {\n  at::Tensor h = x.to(at::kHalf);\n" \
            "  mine::mha_fwd(h.to(at::kFloat), h, h, out, slopes);\n}\n"
        found = [("attention-mixed-dtypes", "model.cpp", 4)]
        for body, expected in ((None, found), ("q.to(v.scalar_type()) * k", []), ("launch(q, k, v)", found)):
            self.write(model__cpp=call, body__cpp="at::Tensor launch(at::Tensor q, at::Tensor k, at::Tensor v);\n"
                       f"{head} {{ return {body}; }} }}\n")
            self.compiled("model.cpp", *(["body.cpp"] if body else []))
            self.assertEqual(self.found(status=1 if expected else 0), expected, body)
            self.entries.clear()

    def test_overloads_are_told_apart(self):
        other = "at::Tensor widen(const at::Tensor& x, int) {\n  return x.to(at::kFloat);\n}\n"
        self.write(helper__cpp=KEEP + other, model__cpp=ROTATE)
        self.compiled("helper.cpp", "model.cpp")
        self.assertEqual(self.found(status=0), [])

    def test_two_programs_in_one_database_do_not_mix(self):
        self.write(a__cpp=WIDEN + "void a(at::Tensor x) { rotary(widen(x), x, x); }\n",
                   b__cpp=KEEP + "void b(at::Tensor x) { rotary(widen(x), x, x); }\n", c__cpp=ROTATE)
        self.compiled("a.cpp", "b.cpp", "c.cpp")
        self.assertEqual(self.found(status=1), [(RULE, "a.cpp", 2)])

    def test_a_virtual_function_that_another_file_overrides_is_unknown(self):
        base = ("#pragma once\nstruct Table { virtual at::Tensor get(const at::Tensor& x) { return x.to(at::kFloat); }\n"
                "  virtual ~Table() = default; };\n")
        use = '#include "t.h"\nvoid use(Table& t, at::Tensor x) { rotary(t.get(x), x, x); }\n'
        other = '#include "t.h"\nstruct Same : Table { at::Tensor get(const at::Tensor& x) override { return x; } };\n'
        self.write(t__h=base, use__cpp=use, other__cpp=other)
        self.compiled("use.cpp")
        self.assertEqual(self.found(status=1), [(RULE, "t.h", 2)])
        self.compiled("other.cpp")
        self.assertEqual(self.found(status=0), [])
        self.assertEqual(self.found(status=0), [], "from the cache")

    def test_constructors_in_another_file_make_the_members(self):
        header = ("#pragma once\nstruct Block : torch::nn::Module { Block(); void forward(const at::Tensor& x);\n"
                  "  at::Tensor table; };\n")
        self.write(block__h=header, forward__cpp='#include "block.h"\nvoid Block::forward(const at::Tensor& x) {\n'
                   "  rotary(x, table, table);\n}\n",
                   block__cpp='#include "block.h"\nBlock::Block() {\n  table = torch::zeros({4, 4}, at::kFloat);\n}\n')
        self.compiled("block.cpp", "forward.cpp")
        self.assertEqual(self.found(status=1), [("unregistered-buffer", "block.cpp", 3)])

    def test_summaries_linked_are_the_run_over_all_files(self):
        self.write(helper__cpp=WIDEN, model__cpp=ROTATE, broken__cpp="int f() { return missing; }\n",
                   clean__cpp="int g() { return 1; }  // NOLINT(dtype-rotary-dtype-mismatch)\n")
        names = ["helper", "model", "broken", "clean"]
        self.compiled(*(f"{name}.cpp" for name in names))
        for name in names:
            run = self.lint("-p", "build", "--emit-summary", f"{name}.sum", f"{name}.cpp")
            self.assertEqual((run.returncode, run.stdout), (3 if name == "broken" else 0, ""), run.stderr)
            self.assertEqual("missing" in run.stderr, name == "broken")
        whole = self.lint("-p", "build", "--format=json")
        for order in (names, names[::-1]):
            linked = self.lint("--format=json", "--link", *(f"{name}.sum" for name in order))
            self.assertEqual((linked.returncode, linked.stdout), (3, whole.stdout))
        self.assertEqual(self.found("--link", "model.sum", status=0), [])

    def test_a_summary_that_is_older_than_its_source_is_named(self):
        self.write(h__h=WIDEN.replace("at::Tensor widen", "inline at::Tensor widen"), a__cpp='#include "h.h"\n' + ROTATE.split("\n", 1)[1])
        self.compiled("a.cpp")
        self.assertEqual(self.lint("-p", "build", "--emit-summary", "a.sum", "a.cpp").returncode, 0)
        self.assertEqual(self.lint("--link", "a.sum").stderr, "")
        self.write(h__h=KEEP.replace("at::Tensor widen", "inline at::Tensor widen"))
        run = self.lint("--link", "a.sum")
        self.assertEqual((run.returncode, run.stderr),
                         (1, "dtype-lint: note: 'a.sum' was written before 'h.h' was changed; write it again with --emit-summary\n"))
        (self.folder / "h.h").unlink()
        self.assertEqual(self.lint("--link", "a.sum").stderr, "", "linked where the sources are not")

    def test_what_a_summary_rests_on_is_told_to_make(self):
        self.write(contracts__json='{"schema": "dtype-guard/contracts/1", "library": "m", "apis": [{"name": "mine", "kind": '
                   '"attention", "spellings": ["mine"], "operands": [{"role": "q", "argument": 0, "accepts": ["half"]}]}]}')
        self.write(model__cpp=f'#include "a file #1.h"\n{ROTATE}')
        (self.folder / "a file #1.h").write_text("#pragma once\n")
        self.compiled("model.cpp")
        for _ in range(2):  # through Clang, and from the cache
            run = self.lint("-p", "build", "--contracts", "contracts.json", "--emit-summary", "m.sum", "--depfile", "m.d",
                            "model.cpp")
            self.assertEqual(run.returncode, 0, run.stderr)
            text = (self.folder / "m.d").read_text()
            self.assertTrue(text.startswith("m.sum: \\\n"), text)
            for name in ("model.cpp", "a\\ file\\ \\#1.h", "attention.h", "contracts.json", ".dtype-lint.json"):
                self.assertIn(name, text)
            (self.folder / "m.d").unlink()
        self.assertEqual(self.lint("-p", "build", "--no-cache", "--emit-summary", "m.sum", "--depfile", "m.d",
                                   "model.cpp").returncode, 0)
        self.assertIn("attention.h", (self.folder / "m.d").read_text())
        run = self.lint("-p", "build", "--depfile", "m.d", "model.cpp")
        self.assertEqual(run.returncode, 2)
        self.assertIn("--emit-summary", run.stderr)

    def test_summaries_that_cannot_be_linked(self):
        self.write(helper__cpp=WIDEN)
        self.compiled("helper.cpp")
        self.assertEqual(self.lint("-p", "build", "--emit-summary", "a.sum", "helper.cpp").returncode, 0)
        good = (self.folder / "a.sum").read_text()
        head = json.loads(good.splitlines()[1])

        def refused(text, *words):
            (self.folder / "b.sum").write_text(text)
            run = self.lint("--link", "a.sum", "b.sum")
            self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
            for word in ("'b.sum'", *words):
                self.assertIn(word, run.stderr)


        refused("", "is not a summary", "dtype-lint summary 3")
        refused("int main() {}\n", "is not a summary")
        refused(good.replace("summary 3", "summary 0", 1), "format 0", "--emit-summary")
        refused(good[:len(good) // 2], "damaged")
        refused(good.replace("return", "retarn", 1), "damaged", "checksum")
        refused(good + good, "damaged")
        other = self.scratch / "rules.json"
        other.write_text(json.dumps({"schema": "dtype-guard/contracts/1", "library": "mine", "apis": [
            {"name": "mine", "kind": "rotary", "spellings": ["mine"], "source": "here",
             "operands": [{"role": "x", "argument": 0, "accepts": ["float16"]}]}]}))
        self.assertEqual(self.lint("-p", "build", "--contracts", other, "--emit-summary", "c.sum", "helper.cpp").returncode, 0)
        run = self.lint("--link", "a.sum", "c.sum")
        self.assertEqual(run.returncode, 2)
        for word in ("'c.sum'", "rules and contracts", head["rules"], "--emit-summary"):
            self.assertIn(word, run.stderr)
        run = self.lint("--link", "none.sum")
        self.assertEqual(run.returncode, 2)
        self.assertIn("'none.sum'", run.stderr)
        self.assertEqual(self.lint("--link", "a.sum", "--emit-summary", "x.sum").returncode, 2)
        self.assertEqual(self.lint("-p", "build", "--emit-summary", "x.sum").returncode, 2)


project.main()
