"""Fixes: what keeps the arithmetic as wide as it was, what a cast may take its dtype from, and where it can stand."""
import json
import time

import project

HEAD = "at::Tensor f(at::Tensor q, const at::Tensor& k, const at::Tensor& w) {\n"
USE = ("int main() {\n  f(torch::ones({2, 2}, at::kHalf), torch::ones({2, 2}, at::kHalf), "
       "torch::ones({2, 2}, at::kFloat));\n}\n")
MODULE = ("namespace F = torch::nn::functional;\nstruct Attention : torch::nn::Module {\n"
          "  torch::nn::Linear wq{nullptr}, wk{nullptr};\n"
          "  Attention() {\n    wq = register_module(\"wq\", torch::nn::Linear(2, 2));\n"
          "    wk = register_module(\"wk\", torch::nn::Linear(2, 2));\n"
          "    table = register_buffer(\"table\", torch::ones({2, 2}));\n  }\n"
          "  at::Tensor forward(const at::Tensor& x) {\nBODY  }\n  at::Tensor table;\n};\n")
MINE = "namespace my { void attention(REF q, const at::Tensor& k, const at::Tensor& v); }\n"


ROUNDS = ("what it gives comes back to it in the next round of the loop in 'f': keep one dtype across rounds, or cast only what "
          "the call gets")


class FixNumerics(project.Case):
    def offered(self, text, *more):
        """The fixes of the one finding, each as (title, what its edits write by the text before them)."""
        self.write(a__cpp=text)
        self.entries.clear()
        self.compiled("a.cpp")
        findings = self.report("-p", "build", *more, status=1)["findings"]
        self.assertEqual(len(findings), 1, [(f["rule"], f["message"]) for f in findings])
        out = []
        for fix in findings[0]["fixes"]:
            lines = text.split("\n")
            for edit in sorted(fix["edits"], key=lambda e: -e["column"]):
                line = lines[edit["line"] - 1]
                lines[edit["line"] - 1] = line[:edit["column"] - 1] + edit["replacement"] + line[edit["end_column"] - 1:]
            out.append((fix["title"], [after.strip() for after in lines if after not in text.split("\n")]))
        self.message = findings[0]["message"]
        return out

    def written(self, text, *more):
        return [line for _, lines in self.offered(text, *more) for line in lines]

    def module(self, *body, more=()):
        return self.written(MODULE.replace("BODY", "".join(f"    {line}\n" for line in body)), *more)

    def test_what_autocast_gives_does_not_take_an_inputs_dtype(self):
        self.assertEqual(self.module("auto h = F::normalize(wq(x));", "return attend(h, wk(x), wk(x));"), [])
        self.assertEqual(self.module("auto h = F::normalize(wq(x));", "auto k = wk(x);", "return attend(h, k, k);"),
                         ["return attend(h.to(k.scalar_type()), k, k);"])
        self.assertEqual(self.module("auto p = wq(x);", "auto h = F::normalize(p);", "return attend(h, wk(x), wk(x));"),
                         ["auto h = F::normalize(p).to(p.scalar_type());"])

    def test_a_caller_that_hands_in_unknown_tensors_takes_no_fix_away(self):
        """The cast is judged where the finding is: in the method, whose caller knows no more of it than before."""
        scaled = ("struct Attention : torch::nn::Module {\n"
                  "  Attention() { scale = register_buffer(\"scale\", torch::ones({8})); }\n"
                  "  at::Tensor forward(const at::Tensor& x, const at::Tensor& k) {\n    auto q = x * scale;\n"
                  "    return attend(q, k, k);\n  }\n  at::Tensor scale;\n};\nat::Tensor load(int);\n"
                  "at::Tensor run() {\n  Attention made;\n  return made.forward(GIVEN, load(2));\n}\n")
        cast = ["auto q = (x * scale).to(x.scalar_type());"]
        self.assertEqual(self.written(scaled.split("at::Tensor load", maxsplit=1)[0]), cast)
        self.assertEqual(self.written(scaled.replace("GIVEN", "load(1)")), cast)
        # Where the caller is known to hand in integers, x is not what to cast to.
        self.assertEqual(self.written(scaled.replace("GIVEN", "torch::ones({8}, at::kLong)")),
                         ["auto q = (x * scale).to(k.scalar_type());"])

    def test_where_the_input_is_what_was_widened_its_dtype_does(self):
        text = ("at::Tensor f(at::Tensor q, const at::Tensor& k) {\n"
                "  q = torch::nn::functional::normalize(q);\n  return attend(q, k, k);\n}\n")
        self.assertEqual(self.written(text), ["q = torch::nn::functional::normalize(q).to(q.scalar_type());"])

    def test_in_a_half_model_the_input_is_half(self):
        body = ("auto h = wq(x) * table;", "return attend(h, wk(x), wk(x));")
        self.assertEqual(self.module(*body, more=("--precision", "fp16-fp32-buffers")),
                         ["auto h = (wq(x) * table).to(x.scalar_type());"])
        self.assertEqual(self.module(*body), [])

    def test_what_a_loop_sums_up_is_cast_behind_it(self):
        for loop in ("for (int i = 0; i < 3; ++i) q = q + w;", "int i = 0;\n  while (i++ < 3) q = w + q;",
                     "int i = 0;\n  do { q = q + w; } while (i++ < 3);",
                     "for (int i = 0; i < 3; ++i) {\n    at::Tensor s = q + w;\n    q = s * 2.0;\n  }",
                     "for (int i = 0; i < 3; ++i) {\n    if (i > 1) continue;\n    q = q + w;\n  }"):
            with self.subTest(loop):
                self.assertEqual(self.written(HEAD + f"  {loop}\n  return attend(q, k, k);\n}}\n" + USE),
                                 ["return attend(q.to(k.scalar_type()), k, k);"])
                self.assertTrue(self.message.endswith("cast 'q' back to 'float16' before the call"), self.message)

    def test_an_algorithm_is_no_loop_around_the_call(self):
        for body in ("std::transform(all.begin(), all.end(), all.begin(), [](const at::Tensor& t) { "
                     "return t.to(at::kFloat); });\n  return attend(all[0], k, k);",
                     "for (auto& t : all) t = t.to(at::kFloat);\n  return attend(all[0], k, k);"):
            with self.subTest(body):
                text = ("#include <algorithm>\n#include <vector>\n" + HEAD + "  std::vector<at::Tensor> all = {q, k};\n  " +
                        body + "\n}\n" + USE)
                self.written(text)
                self.assertTrue(self.message.endswith("cast 'q' back to 'float16' before the call"), self.message)

    def test_a_message_does_not_suggest_what_only_the_first_round_could_do_with(self):
        own = {"schema": "dtype-guard/contracts/1", "library": "mine", "apis": [
            {"name": "my_attention", "kind": "attention", "spellings": ["my::attention"], "operands": [
                {"role": "q", "argument": 0, "accepts": ["half"]}]}]}
        self.write(own__json=json.dumps(own))
        declared = "namespace my { void attention(const at::Tensor& q); }\n"
        rounds = ROUNDS + ", to 'float16'"  # nothing beside it has a name
        for body, cure in (("q = q.to(at::kFloat); my::attention(q);", rounds), ("q = q * w; my::attention(q);", rounds),
                           ("at::Tensor s = q.to(at::kFloat); my::attention(s); q = s + w;", rounds),
                           ("at::Tensor s = q * w; my::attention(s);", "cast back after it, e.g. '.to(q.scalar_type())'"),
                           ("at::Tensor s = q.to(at::kFloat); my::attention(s);", "cast 'q' back to 'float16' before the call"),
                           ("q = q.to(at::kHalf); q = q.to(at::kFloat); my::attention(q);", "cast 'q' back to 'float16' before the call")):
            with self.subTest(body):
                text = declared + HEAD + f"  for (int i = 0; i < 3; ++i) {{ {body} }}\n  return q;\n}}\n" + USE
                fixed = self.written(text, "--contracts", "own.json")
                self.assertTrue(self.message.endswith(cure), self.message)
                self.assertEqual(bool(fixed), cure.startswith("cast back"), "the message says what could be done")

    def test_likewise_where_a_function_is_called_again_with_what_it_gave(self):
        plus = "static at::Tensor plus(const at::Tensor& a, const at::Tensor& b) { return a + b; }\n"
        add = "static void add(at::Tensor& a, const at::Tensor& b) { a = a + b; }\n"
        lambda_ = "  auto plus = [](const at::Tensor& a, const at::Tensor& b) { return a + b; };\n"
        for before, body in ((plus, "  for (int i = 0; i < 3; ++i) q = plus(q, w);\n"),
                             (add, "  for (int i = 0; i < 3; ++i) add(q, w);\n"),
                             (plus, "  q = plus(q, w);\n  q = plus(q, w);\n"),
                             ("", lambda_ + "  for (int i = 0; i < 3; ++i) q = plus(q, w);\n")):
            with self.subTest(before + body):
                self.assertEqual(self.written(before + HEAD + body + "  return attend(q, k, k);\n}\n" + USE),
                                 ["return attend(q.to(k.scalar_type()), k, k);"])

    def test_what_is_half_at_the_start_of_each_round_is_cast_where_it_is_widened(self):
        for loop, wanted in (
                ("at::Tensor s = q * w;\n    k2 = attend(s, k, k);", "at::Tensor s = (q * w).to(q.scalar_type());"),
                ("at::Tensor s = q * w;\n    q = attend(s, k, k);", "at::Tensor s = (q * w).to(q.scalar_type());"),
                ("at::Tensor h = q.to(at::kHalf);\n    q = h * w;\n    k2 = attend(q, k, k);",
                 "q = (h * w).to(h.scalar_type());")):
            with self.subTest(loop):
                text = (HEAD + "  at::Tensor k2;\n  for (int i = 0; i < 3; ++i) {\n    " + loop +
                        "\n  }\n  return k2;\n}\n" + USE)
                self.assertEqual(self.written(text), [wanted])
        plus = "static at::Tensor plus(const at::Tensor& a, const at::Tensor& b) { return a + b; }\n"
        self.assertEqual(self.written(plus + HEAD + "  q = plus(q, w);\n  return attend(q, k, k);\n}\n" + USE),
                         [plus.strip().replace("a + b", "(a + b).to(a.scalar_type())")])

    def test_no_cast_where_a_reference_is_bound(self):
        own = {"schema": "dtype-guard/contracts/1", "library": "mine", "apis": [
            {"name": "my_attention", "kind": "attention", "spellings": ["my::attention"], "operands": [
                {"role": "q", "argument": 0, "accepts": ["half"]}, {"role": "k", "argument": 1, "accepts": ["half"]}]}]}
        self.write(own__json=json.dumps(own))
        body = HEAD + "  at::Tensor s = q * w;\n  my::attention(s, k, k);\n  return s;\n}\n" + USE
        more = ("--contracts", "own.json")
        self.assertEqual(self.written(MINE.replace("REF", "const at::Tensor&") + body, *more),
                         ["my::attention(s.to(k.scalar_type()), k, k);"])
        self.assertEqual(self.written(MINE.replace("REF", "at::Tensor") + body, *more),
                         ["my::attention(s.to(k.scalar_type()), k, k);"])
        self.assertEqual(self.written(MINE.replace("REF", "at::Tensor&") + body, *more), [])
        wrapped = (MINE.replace("REF", "at::Tensor&") +
                   "void own(at::Tensor q, const at::Tensor& k) { my::attention(q, k, k); }\n" +
                   HEAD + "  at::Tensor s = q * w;\n  own(s, k);\n  return s;\n}\n" + USE)
        self.assertEqual(self.written(wrapped, *more), ["own(s.to(k.scalar_type()), k);"])

    def test_a_title_says_what_is_cast(self):
        text = (HEAD + "  at::Tensor wide = q.to(at::kFloat);\n  return attend(wide, k, k);\n}\n" + USE)
        self.assertEqual(self.offered(text), [("cast 'wide' to the dtype of 'k' for this call",
                                               ["return attend(wide.to(k.scalar_type()), k, k);"])])

    def test_scores_are_cast_back(self):
        text = (HEAD + "  auto s = at::matmul(q, k.transpose(-2, -1));\n  auto a = s.to(at::kFloat).softmax(-1);\n"
                "  return at::matmul(a, k);\n}\n" + USE)
        self.assertEqual(self.written(text), ["auto a = s.to(at::kFloat).softmax(-1).to(s.scalar_type());"])

    def test_an_example_names_a_tensor(self):
        text = ("at::Tensor f(const at::Tensor& h, const at::Tensor& w) {\n  std::vector<at::Tensor> l;\n"
                "  l.push_back(h);\n  l.push_back(w);\n  auto q = at::cat(l);\n  return attend(q, h, h);\n}\n"
                "int main() {\n  f(torch::ones({2, 2}, at::kHalf), torch::ones({2, 2}, at::kFloat));\n}\n")
        self.offered(text)
        self.assertTrue(self.message.endswith("; cast what 'at::cat(l)' gives back to 'float16'"), self.message)
        self.offered(text.replace("at::cat(l)", "h * w"))
        self.assertTrue(self.message.endswith("; cast back after it, e.g. '.to(h.scalar_type())'"), self.message)

    def test_findings_that_cannot_be_fixed_take_nothing_from_the_next(self):
        own = "static at::Tensor own(at::Tensor q, at::Tensor k, at::Tensor v) { return attend(q, k, v); }\n"
        many = "".join(f"at::Tensor f{i}(const at::Tensor& x) {{\n"
                       f"  auto q = TIMES(x, torch::ones({{2, 2}}));\n  return own(q, q, q);\n}}\n" for i in range(60))
        last = ("at::Tensor last(at::Tensor q, const at::Tensor& k) {\n  q = q * torch::ones({2, 2});\n"
                "  return own(q, k, k);\n}\n")
        self.write(a__cpp="#define TIMES(a, b) ((a) * (b))\n" + own + many + last)
        self.compiled("a.cpp")
        begin = time.monotonic()
        findings = self.report("-p", "build", "--precision", "fp16-fp32-buffers", status=1)["findings"]
        print(f"{len(findings)} findings took {time.monotonic() - begin:.1f} s")
        self.assertTrue(findings[-1]["fixes"], "no budget was left for the last")


project.main()
