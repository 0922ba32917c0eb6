// Where edits stand in a text, and which are offered: the module is IR text, the source a string beside it.
#include "analyzer/flow/edits/source_text.h"
#include "analyzer/flow/fixes/fix_search.h"
#include "analyzer/flow/ir/text.h"
#include "analyzer/flow/program/program.h"
#include "tests/catch.h"

using namespace dtype_guard;
using namespace dtype_guard::flow;

TEST_CASE("positions are Clang's, whatever ends a line") {
  CHECK(offset_of("ab\ncd", 2, 1) == 3);
  CHECK(offset_of("ab\r\ncd", 2, 2) == 5);
  CHECK(offset_of("ab\rcd", 2, 1) == 3);
  CHECK(offset_of("\xC3\xBC;x", 1, 4) == 3);
  CHECK(offset_of("ab", 1, 3) == 2);
  CHECK_FALSE(offset_of("ab", 1, 4));
  CHECK_FALSE(offset_of("ab", 2, 1));
  CHECK_FALSE(offset_of("ab", 0, 1));
}

TEST_CASE("an expression is taken only from the text that it was made from") {
  Instruction each;
  each.range = {0, 1, 3, 2, 3};
  each.text = "q * w";
  CHECK(expression_at("  q *\n w;", each) == "q *\n w");
  CHECK_FALSE(expression_at("  q +\n w;", each));
  CHECK_FALSE(expression_at("  q", each));
  each.range = {0, 1, 3, 3, 3};
  each.text = "q * # 1 w";
  CHECK_FALSE(expression_at("  q *\n# 1\n w;", each));
  each.text = std::string(120, 'x');
  each.range = {0, 1, 1, 1, 131};
  CHECK(expression_at(std::string(130, 'x'), each));  // the rest of the text was cut off
  CHECK_FALSE(expression_at(std::string(119, 'x') + std::string(11, 'y'), each));
}

TEST_CASE("what is more than a name with calls and members is put in parentheses") {
  for (const char* plain :
       {"q", "f(q)", "a::b(q).c(d)[0]", "(a + b).c()", "this->q", "f(a, \")\")", "q.mul(\n w)"}) {
    CHECK_FALSE(needs_parentheses(plain));
  }
  for (const char* other : {"a * b", "-a", "(T)a", "!a", "a ? b : c", "f<int>(a)", "new T", "*a", "(a)(b) c",
                            "a(", "", "(a) + (b)", "a b"}) {
    CHECK(needs_parentheses(other));
  }
}

TEST_CASE("the arguments of a call as they are written") {
  const auto written = [](std::string_view call) {
    std::vector<std::string> out;
    for (const ArgumentText& each : arguments_of(call))
      out.emplace_back(call.substr(each.begin, each.end - each.begin));
    return out;
  };
  CHECK(written("f(a, b)") == std::vector<std::string>{"a", "b"});
  CHECK(written("x.f(g(a, b), {c, d} , \"e,f\")") ==
        std::vector<std::string>{"g(a, b)", "{c, d}", "\"e,f\""});
  CHECK(written("f(/*q, k*/ a /*)*/, b)  // c, \n") == std::vector<std::string>{});
  CHECK(written("f(/*q, (k*/ a /*)*/, // it's\n b)") == std::vector<std::string>{"a", "b"});
  CHECK(written("f(1'000, 'a', 0xA'B, \"//\")") ==
        std::vector<std::string>{"1'000", "'a'", "0xA'B", "\"//\""});
  CHECK(written("v{a}") == std::vector<std::string>{"a"});
  CHECK(written("f").empty());
  CHECK(written("f(a").empty());
  CHECK(written("f(a)[0]").empty());
}

namespace {

constexpr const char* kSource =
    "int f(Tensor q, Tensor k) {\n"
    "  q = q * w;\n"
    "  attend(q, k);\n"
    "}\n";
// q is half, w float32 with a dimension; `written` says how the product stands in the file.
std::string module_text(const std::string& written) {
  return "file \"a.cpp\"\n"
         "function f main ; a.cpp:1:5-1:6\n"
         "  variables q, k\n"
         "b0:\n"
         "  %1 = const float16\n"
         "  %2 = const float32\n"
         "  %3 = const 4\n"
         "  %4 = pack(%3, %3, %3, %3)\n"
         "  %5 = op zeros(size=%4, dtype=%1)\n"
         "  %6 = op zeros(size=%4, dtype=%2)\n"
         "  store q, %5\n"
         "  store k, %5\n"
         "  %7 = load q ; 2:7-2:8 tensor \"q\"\n"
         "  %8 = op mul(self=%7, other=%6) ; 2:7-2:12 " +
         written +
         " \"q * w\"\n"
         "  store q, %8 ; 2:3-2:12 \"q = q * w\"\n"
         "  %9 = load q ; 3:10-3:11 \"q\"\n"
         "  %10 = load k ; 3:13-3:14 \"k\"\n"
         "  %11 = sink flash_attn_func(q=%9, k=%10, v=%10) ; 3:3-3:15 \"attend(q, k)\"\n"
         "  return\n";
}

std::vector<Fix> offered(const std::string& text, const std::string& source, bool* unchanged = nullptr) {
  Module module = parse(text);
  AnalysisOptions options;
  options.settings = {precision_settings().front()};
  options.contracts = &builtin_contracts();
  std::vector<Finding> findings = analyse(module, options).findings;
  REQUIRE(findings.size() == 1);
  const std::string before = print(module);
  offer_fixes(
      module, Program(module), options,
      [&](const std::string& file) { return file == "a.cpp" ? &source : nullptr; }, findings);
  if (unchanged) *unchanged = print(module) == before;
  return findings.front().fixes;
}

}  // namespace

TEST_CASE("a cast behind the product is offered, and the module stays as it was") {
  bool unchanged = false;
  const std::vector<Fix> fixes = offered(module_text("tensor"), kSource, &unchanged);
  CHECK(unchanged);
  REQUIRE(fixes.size() == 1);
  CHECK(fixes[0].verified);
  REQUIRE(fixes[0].edits.size() == 1);
  CHECK(fixes[0].edits[0].replacement == "(q * w).to(q.scalar_type())");
  CHECK(fixes[0].edits[0].range.line == 2);
  CHECK(fixes[0].edits[0].range.column == 7);
  CHECK(fixes[0].edits[0].range.end_column == 12);
}

TEST_CASE("nothing is offered in a macro, on what is no tensor, or for another text") {
  CHECK(offered(module_text("macro"), kSource).empty());
  CHECK(offered(module_text(""), kSource).empty());
  CHECK(offered(module_text("tensor"), "int f() {\n  other();\n}\n").empty());
}

TEST_CASE("an edit that does not cure the finding is not offered") {
  // k has become float32 as well: no name is left whose dtype would do.
  std::string text = module_text("tensor");
  const std::string store = "  store q, %5\n";
  text.replace(text.find(store), store.size(), "  store q, %6\n");
  const std::string load = "  %8 = op mul(self=%7, other=%6)";
  text.replace(text.find(load), load.size(), "  %8 = op mul(self=%7, other=%6)");
  Module module = parse(text);
  AnalysisOptions options;
  options.settings = {precision_settings().front()};
  options.contracts = &builtin_contracts();
  std::vector<Finding> findings = analyse(module, options).findings;
  REQUIRE_FALSE(findings.empty());
  const std::string source = kSource;
  offer_fixes(
      module, Program(module), options, [&](const std::string&) { return &source; }, findings);
  for (const Finding& each : findings) CHECK(each.fixes.empty());
}

TEST_CASE("a cast takes its dtype from what can hold the value") {
  const auto with_partner = [](const std::string& dtype) {
    std::string text = module_text("tensor");
    const auto replace = [&](const std::string& what, const std::string& by) {
      REQUIRE(text.find(what) != std::string::npos);
      text.replace(text.find(what), what.size(), by);
    };
    replace("  variables q, k\n", "  variables q, k, m\n");
    replace("  store q, %5\n", "  %12 = const " + dtype + "\n  %13 = op zeros(size=%4, dtype=%12)\n" +
                                   "  store m, %13\n  store q, %5\n");
    replace(" ; 2:7-2:8 tensor \"q\"", "\n  %14 = load m ; 2:7-2:8 tensor \"m\"");
    replace("op mul(self=%7, other=%6)", "op addcmul(self=%7, tensor1=%6, tensor2=%14)");
    return offered(text, kSource);
  };
  REQUIRE(with_partner("float16").size() == 1);
  CHECK(with_partner("float16")[0].edits[0].replacement == "(q * w).to(m.scalar_type())");
  CHECK(with_partner("bool").empty());
  CHECK(with_partner("int64").empty());
  CHECK(with_partner("float32").empty());
}

TEST_CASE("a search that a limit ended is told from one that found nothing") {
  Module module = parse(module_text("tensor"));
  AnalysisOptions options;
  options.settings = {precision_settings().front()};
  options.contracts = &builtin_contracts();
  std::vector<Finding> findings = analyse(module, options).findings;
  REQUIRE(findings.size() == 1);
  const std::string source = kSource;
  const auto text = [&](const std::string&) { return &source; };
  options.step_budget = 5;
  const std::vector<UnfinishedSearch> ended = offer_fixes(module, Program(module), options, text, findings);
  CHECK(findings.front().fixes.empty());
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].rule == findings.front().rule);
  CHECK(ended[0].location.line == findings.front().location.line);
  CHECK(ended[0].limit == "a function that leads there takes more than 5 steps to evaluate");

  options.step_budget = AnalysisOptions().step_budget;
  CHECK(offer_fixes(module, Program(module), options, text, findings).empty());
  CHECK(findings.front().fixes.size() == 1);

  Module other = parse(module_text("macro"));
  findings = analyse(other, options).findings;
  const std::vector<UnfinishedSearch> nothing = offer_fixes(other, Program(other), options, text, findings);
  CHECK(findings.front().fixes.empty());
  REQUIRE(nothing.size() == 1);
  CHECK(nothing[0].limit.empty());
  CHECK(nothing[0].objection.starts_with("nothing there can be cast to the dtype of a tensor with a name: "));
}
