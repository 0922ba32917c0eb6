"""Fixes: whose dtype a cast takes, and which edits cannot be made together."""
import json
import shutil
import subprocess

import project

WHERE = "namespace at { Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other); }\n"
MINE = "namespace my { at::Tensor attention(const at::Tensor& q, const at::Tensor& mask); }\n"
HALF = "torch::ones({2, 2}, at::kHalf)"
FLOAT = "torch::ones({2, 2}, at::kFloat)"
BOOL = "torch::ones({2, 2}, at::kBool)"


def contract(q, mask):
    return json.dumps({"schema": "dtype-guard/contracts/1", "library": "mine", "apis": [
        {"name": "my_attention", "kind": "attention", "spellings": ["my::attention"], "operands": [
            {"role": "q", "argument": 0, "accepts": q}, {"role": "mask", "argument": 1, **mask}]}]})


class FixPartners(project.Case):
    def offered(self, text, *more):
        """What the fixes of the one finding write, and the text report."""
        self.write(a__cpp=text)
        self.entries.clear()
        self.compiled("a.cpp")
        findings = self.report("-p", "build", *more, status=1)["findings"]
        self.assertEqual(len(findings), 1, findings)
        edits = [edit["replacement"] for fix in findings[0]["fixes"] for edit in fix["edits"]]
        return edits, findings[0]["message"]

    def test_never_the_condition(self):
        text = (WHERE + "at::Tensor f(const at::Tensor& m, const at::Tensor& h, const at::Tensor& x) {\n"
                "  at::Tensor q = at::where(m, h, x);\n  return attend(q, h, h);\n}\n"
                f"int main() {{ f({BOOL}, {HALF}, {FLOAT}); }}\n")
        self.assertEqual(self.offered(text)[0], [".to(h.scalar_type())"])

    def test_not_even_where_the_call_takes_bool(self):
        self.write(own__json=contract(["half"], {"accepts": ["half", "bool"]}))
        text = (WHERE + MINE + "at::Tensor f(const at::Tensor& m, const at::Tensor& h, const at::Tensor& x) {\n"
                "  at::Tensor bias = at::where(m, h, x);\n  return my::attention(h, bias);\n}\n"
                f"int main() {{ f({BOOL}, {HALF}, {FLOAT}); }}\n")
        self.assertEqual(self.offered(text, "--contracts", "own.json")[0], [".to(h.scalar_type())"])

    def test_not_where_later_arithmetic_hides_it(self):
        text = ("#define TIMES(a, b) ((a) * (b))\n" + WHERE +
                "at::Tensor f(const at::Tensor& m, const at::Tensor& h, const at::Tensor& x) {\n"
                "  at::Tensor s = at::where(m, h, x);\n  return attend(TIMES(s, h), h, h);\n}\n"
                f"int main() {{ f({BOOL}, {HALF}, {FLOAT}); }}\n")
        self.assertEqual(self.offered(text)[0], [".to(h.scalar_type())"])

    def test_not_a_dtype_that_is_not_known(self):
        text = (WHERE + "at::Tensor opaque();\nat::Tensor f(const at::Tensor& h, const at::Tensor& x) {\n"
                "  const at::Tensor m = opaque();\n  at::Tensor q = at::where(m, h, x);\n  return attend(q, h, h);\n}\n"
                f"int main() {{ f({HALF}, {FLOAT}); }}\n")
        self.assertEqual(self.offered(text)[0], [".to(h.scalar_type())"])

    def test_nothing_that_the_call_refuses_as_well(self):
        self.write(own__json=contract(["bfloat16"], {"accepts": ["bool"]}))
        text = (WHERE + MINE + "at::Tensor f(const at::Tensor& m, const at::Tensor& h, const at::Tensor& x) {\n"
                "  at::Tensor q = at::where(m, h, x);\n  return my::attention(q, m);\n}\n")
        use = f"int main() {{ f({BOOL}, {HALF}, {FLOAT}); }}\n"
        for more in ((), ("--precision", "fp16")):
            edits, message = self.offered(text + use, "--contracts", "own.json", *more)
            self.assertEqual(edits, [])
            self.assertIn("promoted from 'float16' by 'where'; the call accepts 'bfloat16'; cast 'q' to 'bfloat16' before the call", message)
        edits, message = self.offered(text + use.replace("kHalf", "kBFloat16"), "--contracts", "own.json")
        self.assertEqual(edits, [".to(h.scalar_type())"])
        self.assertIn("cast back after it, e.g. '.to(h.scalar_type())'", message)

    def test_edits_within_an_edit(self):
        self.write(own__json=contract(["half"], {"accepts": ["half"]}))
        text = (MINE + "inline at::Tensor masked(const at::Tensor& q, const at::Tensor& m) { my::attention(q, m); return q; }\n"
                "at::Tensor f(const at::Tensor& q, const at::Tensor& k, const at::Tensor& w) {\n"
                "  return attend(masked(k, q * w) * w, k, k);\n}\n"
                f"int main() {{ f({HALF}, {HALF}, {FLOAT}); }}\n")
        self.write(a__cpp=text)
        self.compiled("a.cpp")
        (self.folder / "out").mkdir()
        both = ("-p", "build", "--contracts", "own.json")
        self.assertEqual(self.found(*both, status=1), [("attention-implicit-promotion", "a.cpp", 4),
                                                       ("attention-mask-dtype", "a.cpp", 4)])
        self.agree(text.replace("masked(k, q * w) * w,", "(masked(k, (q * w).to(q.scalar_type())) * w).to(k.scalar_type()),"),
                   2, "--contracts", "own.json")

    def agree(self, wanted, findings, *more):
        """--fix and clang-apply-replacements make the same of a.cpp, in one run, and there is nothing left to do."""
        path = self.folder / "a.cpp"
        before = path.read_text()
        run = self.lint("-p", "build", *more, "--export-fixes", "out/f.yaml")
        self.assertEqual((run.returncode, run.stderr), (1, ""))
        applier = next(filter(None, (shutil.which(f"clang-apply-replacements-{n}") for n in (22, 21, 20, 19))), None)
        if applier:
            subprocess.run([applier, str(self.folder / "out")], check=True)
            self.assertEqual(path.read_text(), wanted)
            path.write_text(before)
        run = self.lint("-p", "build", *more, "--fix")
        self.assertEqual(path.read_text(), wanted)
        self.assertEqual((run.returncode, run.stderr), (0, f"dtype-lint: fixed {findings} findings in 1 file\n"), run.stdout)
        again = self.lint("-p", "build", *more, "--fix")
        self.assertEqual((again.returncode, again.stderr, path.read_text()), (0, "", wanted))

    # q can be cast like k, which a fix of its own makes half, and is wide again without that.
    CHAIN = ("class Rope {\n public:\n  at::Tensor forward(const at::Tensor& x) const { return x * table_; }\n"
             f"  at::Tensor table_ = {FLOAT};\n}};\n"
             "at::Tensor f(const std::vector<at::Tensor>& t, const at::Tensor& w) {\n  Rope rope;\n"
             "  at::Tensor q = rope.forward(t[0] * w);\n  at::Tensor k = rope.forward(t[1]);\n  return attend(q, k, t[2]);\n}\n"
             f"int main() {{ f({{{HALF}, {HALF}, {HALF}}}, {FLOAT}); }}\n")
    CAST = "return (x * table_).to(x.scalar_type());"

    def test_a_fix_that_waits_for_another(self):
        self.write(a__cpp=self.CHAIN)
        self.compiled("a.cpp")
        fixes = {(f["location"]["line"], f["rule"]): f["fixes"] for f in self.report(status=1)["findings"]}
        self.assertEqual({key: [fix["title"] for fix in value] for key, value in fixes.items()}, {
            (3, "attention-implicit-promotion"): ["cast back to the dtype of 'x' after the float32 arithmetic"],
            (8, "attention-implicit-promotion"): ["cast 'q' to the dtype of 'k' for this call, with that of a.cpp:3:58"]})
        whole = [[edit["replacement"] for edit in fix["edits"]] for value in fixes.values() for fix in value]
        self.assertIn([".to(k.scalar_type())", "(x * table_).to(x.scalar_type())"], whole)
        (self.folder / "out").mkdir()
        self.agree(self.CHAIN.replace("return x * table_;", self.CAST).replace("attend(q, k", "attend(q.to(k.scalar_type()), k"), 2)

    def test_what_does_not_meet_it_is_no_part_of_a_fix(self):
        other = "at::Tensor g(const at::Tensor& q, const at::Tensor& w) {\n  at::Tensor s = q * w;\n  return attend(s, q, q);\n}\n"
        self.write(a__cpp=other + self.CHAIN.replace("int main() {", f"int main() {{ g({HALF}, {FLOAT});"))
        self.compiled("a.cpp")
        fixes = {f["location"]["line"]: f["fixes"][0] for f in self.report(status=1)["findings"]}
        self.assertEqual(sorted(fixes), [2, 7, 12])
        self.assertEqual({edit["line"] for edit in fixes[12]["edits"]}, {7, 14})

    def test_many_fixes_beside_one_that_cannot_be_made(self):
        names = "abcd"
        bad = ("at::Tensor x() { return torch::ones({2, 2}, at::kHalf); }\nvoid bad() {\n  at::Tensor q;\n  const at::Tensor w = "
               f"{FLOAT};\n  {{\n" + "".join(f"    at::Tensor {n} = x().view({{2, 2}});\n" for n in names) +
               "    q = torch::cat({" + ", ".join(names) + ", w});\n  }\n  q = q + w;\n  attend(q, x(), x());\n}\n")
        count = 23
        text = bad + "".join(f"at::Tensor f{i}(at::Tensor q, const at::Tensor& k, const at::Tensor& w) {{\n  q = q * w;\n"
                             "  return attend(q, k, k);\n}\n" for i in range(count))
        text += "int main() {\n  bad();\n" + "".join(f"  f{i}({HALF}, {HALF}, {FLOAT});\n" for i in range(count)) + "}\n"
        self.write(a__cpp=text)
        self.compiled("a.cpp")
        run = self.lint("-p", "build", "--fix")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertEqual((self.folder / "a.cpp").read_text(), text.replace("q * w;", "(q * w).to(q.scalar_type());"))
        self.assertIn(f"dtype-lint: fixed {count} findings in 1 file\n", run.stderr)
        self.assertIn("not fixed: the edited text does not compile", run.stderr)
        self.assertNotIn("too many", run.stderr)


project.main()
