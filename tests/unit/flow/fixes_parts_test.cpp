// Parts of the search for fixes: an edit on the IR, what comes round again, which edits there are, and
// whether one cures.
#include <string>
#include <vector>

#include "analyzer/flow/edits/cast_edit.h"
#include "analyzer/flow/edits/round_flow.h"
#include "analyzer/flow/fixes/candidates.h"
#include "analyzer/flow/fixes/fix_trial.h"
#include "analyzer/flow/ir/text.h"
#include "tests/catch.h"

namespace dtype_guard::flow {
namespace {

const std::string kSource =
    "int f(Tensor q, Tensor k, Tensor v) {\n"
    "  q = q * w;\n"
    "  attend(q, k, v);\n"
    "}\n";

// q, k and v are half, w is float32.
const char* const kModule = R"IR(file "a.cpp"
function f main ; a.cpp:1:5-1:6
  variables q, k, v, w
b0:
  %1 = const float16
  %2 = const float32
  %3 = const 4
  %4 = pack(%3, %3)
  %5 = op zeros(size=%4, dtype=%1)
  %6 = op zeros(size=%4, dtype=%2)
  store q, %5
  store k, %5
  store v, %5
  store w, %6
  %7 = load q ; 2:7-2:8 tensor "q"
  %13 = load w ; 2:11-2:12 tensor "w"
  %8 = op mul(self=%7, other=%13) ; 2:7-2:12 tensor "q * w"
  store q, %8 ; 2:3-2:12 "q = q * w"
  %9 = load q ; 3:10-3:11 tensor "q"
  %10 = load k ; 3:13-3:14 tensor "k"
  %11 = load v ; 3:16-3:17 tensor "v"
  %12 = sink flash_attn_func(q=%9, k=%10, v=%11) ; 3:3-3:18 "attend(q, k, v)"
  return
)IR";

const SourceRange kProduct{0, 2, 7, 2, 12}, kCall{0, 3, 3, 3, 18};

CastEdit behind_product(const std::string& like) {
  CastEdit out;
  out.range = kProduct;
  out.like = like;
  return out;
}

CastEdit of_argument(std::size_t position, const std::string& like) {
  CastEdit out;
  out.kind = CastEdit::Kind::kArgument;
  out.range = kCall;
  out.argument = out.position = position;
  out.like = like;
  return out;
}

SourceLocation place(const SourceRange& at) {
  return {"a.cpp", at.line, at.column, at.end_line, at.end_column, "f"};
}

// q was widened by the product and comes to the call.
Finding widened() {
  Finding out;
  out.rule = "attention-implicit-promotion";
  out.location = place(kProduct);
  out.sinks = {{"flash_attn_func", "q", place(kCall)}};
  out.path = {{place(kProduct), "mul", "float16", "float32", "", {}},
              {place(kCall), "flash_attn_func", "float32", "float32", "", {}}};
  out.precision = {"fp32"};
  return out;
}

std::vector<std::string> titles(const Module& module, const Finding& finding, const std::string& source) {
  RoundFlow round(module);
  const SourceText text = [&](const std::string&) { return &source; };
  std::vector<std::string> out;
  for (const Candidate& each : Candidates(module, text, round, finding).take()) out.push_back(each.title);
  return out;
}

// The product in a loop, with the call in the loop as well or behind it.
Module with_loop(bool call_inside) {
  const std::string call = "  %4 = sink flash_attn_func(q=%2, k=%2, v=%2) ; 3:3-3:18 \"attend(q)\"\n";
  return parse(
      "file \"a.cpp\"\nfunction f\n  parameter x: tensor\n  variables q\nb0:\n  %1 = param 0\n"
      "  store q, %1\n  jump b1\nb1:\n  %2 = load q\n  %3 = op mul(self=%2, other=%2) ; 2:7-2:12\n"
      "  store q, %3\n" +
      (call_inside ? call : std::string()) + "  %5 = const unknown\n  branch %5 ? b1 : b2\nb2:\n" +
      (call_inside ? std::string() : "  %6 = load q\n" + call) + "  return\n");
}

struct Trial {
  bool cures(const std::vector<CastEdit>& edits) {
    const std::string before = print(module);
    const bool out = trial.cures(edits);
    CHECK(print(module) == before);
    return out;
  }
  explicit Trial(std::size_t steps = AnalysisOptions().step_budget) : options(limited(steps)) {
    trial.begin(finding);
  }
  static AnalysisOptions limited(std::size_t steps) {
    AnalysisOptions out;
    out.settings = {precision_settings().back()};
    out.contracts = &builtin_contracts();
    out.step_budget = steps;
    return out;
  }
  Module module = parse(kModule);
  Program program{module};
  AnalysisOptions options;
  Finding finding = widened();
  FixTrial trial{module, program, options};
};

}  // namespace

TEST_CASE("edited module: a cast stands behind the expression while it lives") {
  Module module = parse(kModule);
  const std::string before = print(module);
  {
    EditedModule edited(module);
    CHECK(edited.add(behind_product("q")));
    CHECK(edited.functions() == std::vector<std::uint32_t>{0});
    const Instruction* store = nullptr;
    for (const Instruction& each : module.functions[0].blocks[0].instructions) {
      if (each.op == Op::kStore && each.text == "q = q * w") store = &each;
    }
    REQUIRE(store);
    const Instruction* cast = definition_in(module.functions[0], store->args[0].value);
    REQUIRE(cast);
    CHECK(cast->name == "to");
    CHECK(cast->args[0].value == 8);
  }
  CHECK(print(module) == before);
}

TEST_CASE("edited module: an argument is cast for its call alone, and what is no name is not taken") {
  Module module = parse(kModule);
  EditedModule edited(module);
  CHECK(edited.add(of_argument(0, "k")));
  const Instruction* call = expression_in(module.functions[0], kCall);
  REQUIRE(call);
  CHECK(call->args[0].value != 9);
  CHECK(call->args[1].value == 10);
  CHECK(!edited.add(behind_product("x")));
  CHECK(!edited.add(of_argument(7, "k")));
  EditedModule other(module);
  CastEdit nowhere = behind_product("q");
  nowhere.range.line = 9;
  CHECK(!other.add(nowhere));
  CHECK(other.functions().empty());
}

TEST_CASE("round flow: what a loop gives back to the expression is made in each round, or before the call") {
  const auto of = [](const Module& module) {
    RoundFlow round(module);
    const Instruction* product = expression_in(module.functions[0], kProduct);
    REQUIRE(product);
    return round.comes_back(module.functions[0], *product, widened());
  };
  CHECK(of(parse(kModule)).how == ComesBack::kNever);
  CHECK(of(with_loop(true)).how == ComesBack::kInRounds);
  CHECK(of(with_loop(true)).function == "f");
  Module behind = with_loop(false);
  CHECK(of(behind).how == ComesBack::kBeforeCall);
}

TEST_CASE("candidates: a cast behind the arithmetic comes before one for the call") {
  const Module module = parse(kModule);
  const std::vector<std::string> all = titles(module, widened(), kSource);
  REQUIRE(all.size() == 8);  // each of q, k and v to the dtype of either other
  CHECK(all[0] == "cast back to the dtype of 'q' after the float32 arithmetic");
  CHECK(all[1] == "cast back to the dtype of 'w' after the float32 arithmetic");
  CHECK(all[2] == "cast 'q' to the dtype of 'k' for this call");
  CHECK(all[7] == "cast 'v' to the dtype of 'k' for this call");
  Finding made_wide = widened();
  made_wide.path.front().before.clear();
  CHECK(titles(module, made_wide, kSource).empty());
}

TEST_CASE("candidates: of a call whose text is another only what the arithmetic gives is cast") {
  CHECK(titles(parse(kModule), widened(), "int f() {\n  other();\n}\n").size() == 2);
}

TEST_CASE("fix trial: the edit that leaves half values half cures, and the module is what it was") {
  Trial of;
  CHECK(of.cures({behind_product("q")}));
  CHECK(of.trial.limit().empty());
  CHECK(of.trial.objection().empty());
}

TEST_CASE(
    "fix trial: an edit that leaves the finding, or breaks the call otherwise, does not cure and says so") {
  Trial of;
  CHECK(!of.cures({of_argument(1, "w")}));
  CHECK(of.trial.limit().empty());
  CHECK(!of.trial.objection().empty());
  CHECK(!of.cures({behind_product("q"), of_argument(1, "w")}));
  CHECK(of.trial.objection() == "under 'fp32' 'k' of 'flash_attn_func' at a.cpp:3 breaks its contract");
}

TEST_CASE("fix trial: a limit is told from an edit that does not cure") {
  Trial of(5);
  CHECK(!of.cures({behind_product("q")}));
  CHECK(of.trial.limit() == "a function that leads there takes more than 5 steps to evaluate");
}

}  // namespace dtype_guard::flow
