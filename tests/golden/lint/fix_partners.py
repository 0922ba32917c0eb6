"""Fixes: whose dtype a cast takes, and which edits cannot be made together."""
import json

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
        """What the fixes of the one finding write, and what is said of it."""
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
            self.assertIn("promoted from 'float16' by 'where'; the call accepts 'bfloat16'; cast it before the call", message)
        edits, message = self.offered(text + use.replace("kHalf", "kBFloat16"), "--contracts", "own.json")
        self.assertEqual(edits, [".to(h.scalar_type())"])
        self.assertIn("cast back after it, e.g. '.to(h.scalar_type())'", message)

    def test_overlapping_edits_take_two_runs(self):
        self.write(own__json=contract(["half"], {"accepts": ["half"]}))
        text = (MINE + "inline at::Tensor masked(const at::Tensor& q, const at::Tensor& m) { my::attention(q, m); return q; }\n"
                "at::Tensor f(const at::Tensor& q, const at::Tensor& k, const at::Tensor& w) {\n"
                "  return attend(masked(k, q * w) * w, k, k);\n}\n"
                f"int main() {{ f({HALF}, {HALF}, {FLOAT}); }}\n")
        self.write(a__cpp=text)
        self.compiled("a.cpp")
        both = ("-p", "build", "--contracts", "own.json")
        self.assertEqual(self.found(*both, status=1), [("attention-implicit-promotion", "a.cpp", 4),
                                                       ("attention-mask-dtype", "a.cpp", 4)])
        run = self.lint(*both, "--fix", "--format=json")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("a.cpp:4:27: attention-mask-dtype not fixed: its edit overlaps that of the finding at a.cpp:4:17; "
                      "run --fix again", run.stderr)
        self.assertIn("dtype-lint: fixed 1 finding in 1 file", run.stderr)
        self.assertEqual((self.folder / "a.cpp").read_text(), text.replace(
            "masked(k, q * w) * w,", "(masked(k, q * w) * w).to(k.scalar_type()),"))
        self.assertEqual([f["rule"] for f in json.loads(run.stdout)["findings"]], ["attention-mask-dtype"])
        run = self.lint(*both, "--fix")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertNotIn("overlaps", run.stderr)
        self.assertEqual((self.folder / "a.cpp").read_text(), text.replace(
            "masked(k, q * w) * w,", "(masked(k, (q * w).to(q.scalar_type())) * w).to(k.scalar_type()),"))


project.main()
