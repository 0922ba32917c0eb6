"""dtype-lint --contracts with a project's own file: an API in five lines, operands of every kind, own types and helpers, what the
library says; and files that are broken in every way."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

LINT, TORCH = sys.argv[1], sys.argv[2]
FLAGS = ["--", "-std=c++17", "-include", TORCH]
FIVE_LINES = """{"schema": "dtype-guard/contracts/1", "library": "mine", "apis": [
  {"name": "my_attention", "kind": "attention", "spellings": ["my::attention"], "operands": [
    {"role": "q", "argument": 0, "accepts": ["half"], "error": "half q wanted"},
    {"role": "k", "argument": 1, "same_as": "q", "error": "k is not like q"},
    {"role": "v", "argument": 2, "same_as": "q"}]}]}
"""
CALL = """namespace my { at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v); }
at::Tensor run(const at::Tensor& q, const at::Tensor& k) { return my::attention(q, k, q); }
int main() { run(torch::zeros({1, 2}, at::kHalf), torch::zeros({1, 2}, at::DTYPE)); }
"""


def operand(role, **more):
    return {"role": role, **more}


class OwnContracts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / ".dtype-lint.json").write_text("{}")

    def run_lint(self, code, contracts, *arguments):
        """`contracts` is the text of the file, a JSON document, or a path."""
        (self.folder / "a.cpp").write_text(code)
        path = contracts
        if not isinstance(contracts, pathlib.Path):
            path = self.folder / "mine.json"
            data = contracts if isinstance(contracts, (str, bytes)) else json.dumps(contracts)
            path.write_bytes(data.encode() if isinstance(data, str) else data)
        return subprocess.run([LINT, "--contracts", str(path), *map(str, arguments), "a.cpp", *FLAGS],
                              capture_output=True, cwd=self.folder)

    def found(self, code, contracts, *arguments):
        """(line, rule) of the findings."""
        run = self.run_lint(code, contracts, "--format=json", *arguments)
        self.assertIn(run.returncode, (0, 1), run.stdout + run.stderr)
        return [(f["location"]["line"], f["rule"]) for f in json.loads(run.stdout)["findings"]]

    @staticmethod
    def api(*operands, **more):
        return {"schema": "dtype-guard/contracts/1", "library": "mine", "apis": [
            {"name": "attend", "kind": "attention", "spellings": ["attend"], "operands": list(operands), **more}]}

    def test_five_lines_make_an_api(self):
        self.assertEqual(self.found(CALL.replace("DTYPE", "kFloat"), FIVE_LINES), [(3, "attention-mixed-dtypes")])
        self.assertEqual(self.found(CALL.replace("DTYPE", "kHalf"), FIVE_LINES), [])
        other = FIVE_LINES.replace("my::attention", "my::another")
        self.assertEqual(self.found(CALL.replace("DTYPE", "kFloat"), other), [])

    def test_a_body_in_the_file_does_not_hide_what_the_project_states(self):
        code = """void launch(void*, void*, void*);
at::Tensor scaled(const at::Tensor& x) { return x * torch::ones({64}); }
namespace my {
at::Tensor attention(const at::Tensor& a, const at::Tensor& b, const at::Tensor& c) {
  BODY
}
at::Tensor attention(const at::Tensor& x, int heads) { return x; }
}
at::Tensor bad(const at::Tensor& x) { at::Tensor h = x.to(at::kHalf); return my::attention(h * torch::ones({64}), h, h); }
at::Tensor good(const at::Tensor& x) { return my::attention(x.to(at::kHalf) * torch::ones({64}), 8); }
"""
        for body in ("launch(a.data_ptr(), b.data_ptr(), c.data_ptr()); return a;",
                     "at::Tensor h = a.to(b.scalar_type()); launch(h.data_ptr(), b.data_ptr(), c.data_ptr()); return h;"):
            with self.subTest(body):
                self.assertEqual(self.found(code.replace("BODY", body), FIVE_LINES), [(9, "attention-implicit-promotion")])
        method = """struct At { at::Tensor forward(at::Tensor q, at::Tensor k, at::Tensor v) { return q; } };
at::Tensor f(At& a, const at::Tensor& x) { at::Tensor h = x.to(at::kHalf); return a.forward(h, h * torch::ones({64}), h); }
"""
        self.assertEqual(self.found(method, FIVE_LINES.replace("my::attention", "At::forward")),
                         [(2, "attention-implicit-promotion")])

    def test_the_librarys_own_words_end_the_path(self):
        run = self.run_lint(CALL.replace("DTYPE", "kFloat"), FIVE_LINES)
        self.assertIn(b"""reaches 'k' of 'my_attention', which stops with "k is not like q" (float32)""", run.stdout)

    def test_a_dtype_may_be_that_of_a_template_argument(self):
        code = """template <class TQ, class TK> int attend(const void* q, const void* k);
int half(const void* p) { return attend<c10::Half, c10::Half>(p, p); }
int mixed(const void* p) { return attend<c10::Half, float>(p, p); }
"""
        contracts = self.api(operand("q", template_argument=0, accepts=["half"]),
                             operand("k", template_argument=1, same_as="q"))
        self.assertEqual(self.found(code, contracts), [(3, "attention-mixed-dtypes")])
        inside = """template <class T> struct Attention { static int attend(const void* q, const at::Tensor& k); };
int good(const at::Tensor& k) { return Attention<c10::Half>::attend(nullptr, k.to(at::kHalf)); }
int bad(const at::Tensor& k) { return Attention<c10::Half>::attend(nullptr, k.to(at::kFloat)); }
"""
        contracts = self.api(operand("q", template_argument=0, accepts=["half"]), operand("k", argument=1, same_as="q"),
                             spellings=["Attention::attend"])
        self.assertEqual(self.found(inside, contracts), [(3, "attention-mixed-dtypes")])

    def test_a_dtype_may_be_that_of_a_pointee(self):
        code = """int attend(const c10::Half* q, const float* k);
int attend(const c10::Half* q, const c10::Half* k);
int good(const c10::Half* q, const c10::Half* k) { return attend(q, k); }
int bad(const c10::Half* q, const float* k) { return attend(q, k); }
"""
        contracts = self.api(operand("q", argument=0, accepts=["half"]), operand("k", argument=1, same_as="q"))
        self.assertEqual([line for line, _ in self.found(code, contracts)], [4])

    def test_a_project_names_its_own_types(self):
        code = """namespace my { struct number { unsigned short bits; }; }
typedef unsigned short raw_t;
int attend(const my::number* q, const my::number* k);
int attend(const raw_t* q, const float* k);
int good(const my::number* q, const my::number* k) { return attend(q, k); }
int bad(const raw_t* q, const float* k) { return attend(q, k); }
"""
        contracts = self.api(operand("q", argument=0, accepts=["half"]), operand("k", argument=1, same_as="q"))
        self.assertEqual(self.found(code, contracts), [])
        contracts["types"] = {"my::number": "float16", "raw_t": "float16"}
        self.assertEqual([line for line, _ in self.found(code, contracts)], [6])

    def test_a_dtype_may_be_that_of_an_enumerator(self):
        code = """namespace my { enum class Type { kHalf, kBrain, kFloat, kInvalid }; }
int attend(const void* q, const void* k, const void* v, my::Type type, my::Type v_type);
int good(const void* p) { return attend(p, p, p, my::Type::kHalf, my::Type::kHalf); }
int passed_on(const void* p, my::Type type) { return attend(p, p, p, type, my::Type::kHalf); }
int bad(const void* p) { return attend(p, p, p, my::Type::kHalf, my::Type::kBrain); }
int unsupported(const void* p) { return attend(p, p, p, my::Type::kFloat, my::Type::kHalf); }
int unknown(const void* p) { return attend(p, p, p, my::Type::kInvalid, my::Type::kHalf); }
my::Type type_of(const at::Tensor& x) {
  return x.scalar_type() == at::kHalf ? my::Type::kHalf : my::Type::kFloat;
}
int tensors(const at::Tensor& q, const at::Tensor& v) {
  return attend(q.data_ptr(), q.data_ptr(), v.data_ptr(), type_of(q), type_of(v));
}
int right(const at::Tensor& q) { return tensors(q.to(at::kHalf), q.to(at::kHalf)); }
int wrong(const at::Tensor& q) { return tensors(q.to(at::kHalf), q.to(at::kFloat)); }
int lied(const at::Tensor& q) {
  const at::Tensor wide = q.to(at::kFloat);
  return attend(wide.data_ptr(), wide.data_ptr(), wide.data_ptr(), my::Type::kHalf, my::Type::kHalf);
}
int absent(const void* p) { return attend(p, p, nullptr, my::Type::kHalf, my::Type::kFloat); }
int main() {
  const at::Tensor half = torch::zeros({1, 2}, at::kHalf);
  return right(half) + wrong(half) + lied(half) + good(nullptr) + bad(nullptr) + passed_on(nullptr, my::Type::kHalf);
}
"""
        contracts = self.api(operand("q", argument=0, dtype_argument=3, accepts=["half"]),
                             operand("k", argument=1, dtype_argument=3, same_as="q"),
                             operand("v", argument=2, dtype_argument=4, same_as="q", optional=True))
        types = {"my::Type::kHalf": "float16", "my::Type::kBrain": "bfloat16", "my::Type::kFloat": "float32"}
        found = self.found(code, {**contracts, "types": types})
        self.assertEqual(found, [(5, "attention-mixed-dtypes"), (6, "attention-mixed-dtypes"), (6, "attention-unsupported-dtype"),
                                 (15, "attention-mixed-dtypes"), (18, "dlpack-dtype-mismatch")])
        self.assertEqual(self.found(code, contracts), [])

    def test_a_project_names_helpers_that_behave_as_an_operator(self):
        code = """at::Tensor apply_scale(const at::Tensor& x, const at::Tensor& by);
at::Tensor attend(const at::Tensor& q, const at::Tensor& k);
at::Tensor run(const at::Tensor& q, const at::Tensor& k, const at::Tensor& scale) {
  return attend(apply_scale(q, scale), k);
}
int main() {
  at::Tensor half = torch::zeros({1, 2}, at::kHalf);
  run(half, half, torch::zeros({2}, at::kFloat));
}
"""
        contracts = self.api(operand("q", argument=0, accepts=["half"]), operand("k", argument=1, same_as="q"))
        self.assertEqual(self.found(code, contracts), [])
        contracts["helpers"] = {"apply_scale": "mul"}
        self.assertEqual(self.found(code, contracts), [(4, "attention-implicit-promotion")])
        half_scale = code.replace("torch::zeros({2}, at::kFloat)", "half")
        self.assertEqual(self.found(half_scale, contracts), [])
        # A method's object is no operand, whether its body is seen or not.
        for body in (";", " { return x.to(at::kHalf); }"):
            method = code.replace("at::Tensor apply_scale(const at::Tensor& x, const at::Tensor& by);",
                                  "struct Scaler { at::Tensor apply(const at::Tensor& x, const at::Tensor& by)" + body + " };")
            method = method.replace("apply_scale(q, scale)", "Scaler().apply(q, scale)")
            contracts["helpers"] = {"Scaler::apply": "mul"}
            self.assertEqual(self.found(method, contracts), [(4, "attention-implicit-promotion")], body)

    def test_the_result_follows_the_contract(self):
        code = """at::Tensor attend(const at::Tensor& q, at::ScalarType dtype = at::kHalf);
at::Tensor later(const at::Tensor& x, const at::Tensor& y);
void run(const at::Tensor& q) {
  later(attend(q), q);
  later(attend(q, at::kFloat), q);
}
int main() { run(torch::zeros({1, 2}, at::kHalf)); }
"""
        contracts = self.api(operand("q", argument=0, accepts=["half"]), result_argument=1, result_like="q")
        contracts["apis"].append({"name": "later", "kind": "attention", "spellings": ["later"], "operands": [
            operand("q", argument=0, accepts=["half"]), operand("k", argument=1, same_as="q")]})
        self.assertEqual([line for line, _ in self.found(code, contracts)], [5])
        del contracts["apis"][0]["result_like"]
        contracts["apis"][0].update(result_dtype="float32")
        self.assertEqual([line for line, _ in self.found(code, contracts)], [4, 5])
        del contracts["apis"][0]["result_dtype"]
        contracts["apis"][0].update(result_like="q", result_for={"float16": "float64"})
        self.assertEqual([line for line, _ in self.found(code, contracts)], [4, 5])

    def test_of_several_results_the_first_are_known(self):
        code = """std::vector<at::Tensor> attend(const at::Tensor& q);
at::Tensor later(const at::Tensor& x, const at::Tensor& y);
void run(const at::Tensor& q) {
  later(attend(q)[0], q);
  later(attend(q)[1], q);
  later(attend(q)[2], q.to(at::kFloat));
}
int main() { run(torch::zeros({1, 2}, at::kHalf)); }
"""
        contracts = self.api(operand("q", argument=0, accepts=["half"]), results=["q", "float32"])
        contracts["apis"].append({"name": "later", "kind": "attention", "spellings": ["later"], "operands": [
            operand("q", argument=0, accepts=["half", "float32"]), operand("k", argument=1, same_as="q")]})
        self.assertEqual([line for line, _ in self.found(code, contracts)], [5])
        contracts["apis"][0].update(result_for={"float16": "float64"})
        self.assertEqual([line for line, _ in self.found(code, contracts)], [4, 5])
        one = code.replace("std::vector<at::Tensor> attend", "at::Tensor attend")  # it has no second
        self.assertEqual(self.found(one, contracts), [])

    def test_the_mask_rule_of_sdpa_is_that_of_the_release(self):
        code = """namespace at { Tensor scaled_dot_product_attention(const Tensor&, const Tensor&, const Tensor&,
    const std::optional<Tensor>& = {}); }
at::Tensor run(const at::Tensor& q, const at::Tensor& mask) { return at::scaled_dot_product_attention(q, q, q, mask); }
int main() { run(torch::zeros({1, 2}, at::kHalf), torch::zeros({2, 2}, at::kFloat)); }
"""
        empty = {"schema": "dtype-guard/contracts/1", "library": "mine", "types": {"none_t": "float16"}}
        self.assertEqual(self.found(code, empty, "--torch=2.13", "--device=cpu"), [])
        self.assertEqual(self.found(code, empty, "--torch=2.1", "--device=cpu"), [(4, "attention-mask-dtype")])

    def test_the_mask_rule_of_sdpa_is_that_of_the_kernels(self):
        code = """namespace at { Tensor scaled_dot_product_attention(const Tensor&, const Tensor&, const Tensor&,
    const std::optional<Tensor>& = {});
struct Context { void setSDPUseMemEfficient(bool); }; Context& globalContext(); }
at::Tensor run(const at::Tensor& q, const at::Tensor& mask) { return at::scaled_dot_product_attention(q, q, q, mask); }
int main() { run(torch::zeros({1, 2, 8, 16}, at::kHalf), torch::zeros({8, 8}, at::kFloat)); }
"""
        empty = {"schema": "dtype-guard/contracts/1", "library": "mine", "types": {"none_t": "float16"}}
        self.assertEqual(self.found(code, empty, "--torch=2.13"), [(5, "attention-mask-dtype")])
        for device in ("cpu", "xpu"):
            self.assertEqual(self.found(code, empty, "--torch=2.13", f"--device={device}"), [])
        chosen = code.replace("main() {", "main() { at::globalContext().setSDPUseMemEfficient(false);")
        self.assertEqual(self.found(chosen, empty, "--torch=2.13"), [])

    def test_a_promotion_that_only_costs_the_fast_kernels_is_a_warning(self):
        code = """at::Tensor attend(const at::Tensor& q, const at::Tensor& k);
at::Tensor run(const at::Tensor& x, const at::Tensor& scale) {
  at::Tensor q = x * scale;
  return attend(q, x.to(q.scalar_type()));
}
at::Tensor on_purpose(const at::Tensor& x) { return attend(x.to(at::kFloat), x.to(at::kFloat)); }
int main() {
  at::Tensor half = torch::zeros({1, 2}, at::kHalf), wide = torch::zeros({1, 2}, at::kFloat);
  run(half, wide);
  run(half, half);
  on_purpose(half);
  attend(wide, wide);
}
"""
        contracts = self.api(operand("q", argument=0, accepts=["floating"]), operand("k", argument=1, same_as="q"),
                             fast={"cuda": ["half"]})
        run = self.run_lint(code, contracts, "--format=json")
        found = json.loads(run.stdout)["findings"]
        self.assertEqual([(f["location"]["line"], f["rule"], f["level"]) for f in found],
                         [(3, "silent-attention-fallback", "warning")])
        self.assertEqual(self.found(code, contracts, "--device=cpu"), [])
        del contracts["apis"][0]["fast"]
        self.assertEqual(self.found(code, contracts), [])

    def test_a_name_has_one_meaning_over_several_files(self):
        api = self.api(operand("q", argument=0, accepts=["half"]), spellings=["my::attend"])
        base = {"schema": "dtype-guard/contracts/1", "library": "other"}

        def added(one, two):
            """`two` is read behind `one`."""
            (self.folder / "two.json").write_text(json.dumps(two, indent=1))
            run = self.run_lint("int f();\n", one, "--contracts", self.folder / "two.json")
            return run.returncode, run.stderr.decode().replace(str(self.folder) + "/", "")

        helper, kind = {**base, "helpers": {"my::attend": "mul"}}, {**base, "types": {"my::attend": "float16"}}
        renamed = json.loads(json.dumps(api).replace('"attend"', '"other"', 1))
        for one, two, place, words in (
                (api, helper, "two.json:5: /helpers/my::attend", 'the API "attend" of "mine"'),
                (helper, api, "two.json:9: /apis/0/spellings/0", '"helpers" of an earlier file'),
                (api, kind, "two.json:5: /types/my::attend", 'the API "attend" of "mine"'),
                (kind, api, "two.json:9: /apis/0/spellings/0", '"types" of an earlier'),
                (helper, kind, "two.json:5: /types/my::attend", '"helpers" of an earlier file'),
                (kind, helper, "two.json:5: /helpers/my::attend", '"types" of an earlier'),
                (helper, {**base, "helpers": {"my::attend": "add"}}, "two.json:5: /helpers/my::attend", 'is "mul"'),
                (kind, {**base, "types": {"my::attend": "bfloat16"}}, "two.json:5: /types/my::attend", "is float16"),
                (api, renamed, "two.json:9: /apis/0/spellings/0", 'the API "attend" of "mine"'),
                (api, {**base, "helpers": {"flash_ref_attention_fwd": "mul"}},
                 "two.json:5: /helpers/flash_ref_attention_fwd", 'of "flash_ref"'),
                (api, {**base, "helpers": {"ggml_fp16_t": "mul"}}, "two.json:5: /helpers/ggml_fp16_t", "shipped")):
            with self.subTest(words, one=one, two=two):
                code, said = added(one, two)
                self.assertEqual(code, 2, said)
                self.assertIn(f"--contracts: {place}: found ", said)
                self.assertIn(words, said)
        for one, two in ((api, api), (helper, helper), (kind, kind), (api, {**base, "types": {"ggml_fp16_t": "bfloat16"}}),
                         (api, {**base, "helpers": {"my::scale": "mul"}})):
            self.assertEqual(added(one, two), (0, added(api, api)[1]), (one, two))

    def test_a_broken_file_is_answered_with_its_place(self):
        good = self.api(operand("q", argument=0, accepts=["half"]))

        def broken(change):
            document = json.loads(json.dumps(good))
            change(document)
            return json.dumps(document)

        first = "/apis/0"
        cases = {
            "empty": ("", "malformed JSON"), "null": ("null", "found null"), "a list": ("[]", "an empty array"),
            "a number": ("7", "found the number 7"), "cut off": (FIVE_LINES[:150], "malformed JSON"),
            "two documents": (FIVE_LINES * 2, "malformed JSON"), "a comment": ("// mine\n" + FIVE_LINES, "malformed JSON"),
            "no UTF-8": (b'{"schema": "\xff"}', "malformed JSON"), "binary": (bytes(range(256)) * 64, "malformed JSON"),
            "NUL in a name": (FIVE_LINES.replace("my::attention", "my\\u0000"), "printable"),
            "deep": ('{"a":' * 5000 + "1" + "}" * 5000, "nesting deeper than 64"),
            "deep list": ("[" * 200000, "nesting deeper than 64"),
            "long": ('{"schema": "' + "x" * 5_000_000 + '"}', "xxx..."),
            "key twice": (FIVE_LINES.replace('"library": "mine"', '"library": "mine", "library": "yours"'), "twice"),
            "unknown dtype": (broken(lambda d: d["apis"][0]["operands"][0].update(accepts=["fp15"])), f"{first}/operands/0/accepts/0"),
            "number dtype": (broken(lambda d: d["apis"][0]["operands"][0].update(accepts=[16])), "found the number 16"),
            "unknown role": (broken(lambda d: d["apis"][0]["operands"][0].update(role="qq")), "did you mean"),
            "half position": (broken(lambda d: d["apis"][0]["operands"][0].update(argument=0.5)), "argument"),
            "huge position": (broken(lambda d: d["apis"][0]["operands"][0].update(argument=10 ** 30)), "argument"),
            "versions reversed": (broken(lambda d: d["apis"][0].update(versions={"since": "2.8", "until": "2.7"})), "a version after 2.8"),
            "version of words": (broken(lambda d: d["apis"][0].update(versions={"since": "2.x"})), "a version such as"),
            "same as a role that is not there": (broken(lambda d: d["apis"][0]["operands"][0].update(same_as="k")), "same_as"),
            "no operands": (broken(lambda d: d["apis"][0].update(operands=[])), "at least one operand"),
            "operand of text": (broken(lambda d: d["apis"][0].update(operands=["q"])), f"{first}/operands/0"),
            "API of null": (broken(lambda d: d.update(apis=[None])), first), "no APIs": (broken(lambda d: d.update(apis=[])), "/apis"),
            "unknown member": (broken(lambda d: d["apis"][0].update(spelling=["a"])), 'did you mean "spellings"'),
            "unknown helper": (broken(lambda d: d.update(helpers={"f": "mulll"})), 'did you mean "mul"'),
            "unknown type": (broken(lambda d: d.update(types={"t": "hlaf"})), "/types/t"),
            "nothing in it": ('{"schema": "dtype-guard/contracts/1", "library": "mine"}', '"types"'),
            "other schema": (FIVE_LINES.replace("contracts/1", "contracts/9"), "/schema"),
            "a report": ('{"schema": "dtype-guard/report/1", "findings": []}', "dtype-guard/contracts/1"),
            "no device": (pathlib.Path("/dev/null"), "/dev/null"), "a folder": (pathlib.Path("/"), "a folder"),
            "missing": (pathlib.Path("/no/such/file.json"), "no readable file"),
        }
        for name, (contracts, words) in cases.items():
            with self.subTest(name):
                run = self.run_lint("int f();\n", contracts)
                self.assertEqual((run.returncode, run.stdout), (2, b""), run.stderr[:500])
                self.assertIn(b"--contracts", run.stderr)
                self.assertIn(words.encode(), run.stderr, run.stderr[:500])
                self.assertLess(len(run.stderr), 4000, "an error too long to read")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
