// Parts of the search for fixes: an edit on the IR, what comes round again, which edits there are, and
// whether one cures.
#include <string>
#include <vector>

#include "analyzer/flow/edits/cast_edit.h"
#include "analyzer/flow/edits/round_flow.h"
#include "analyzer/flow/edits/value_uses.h"
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
  // Its dtype is decided where it is made; the call alone can be handed another.
  CHECK(titles(module, made_wide, kSource) ==
        std::vector<std::string>{"cast 'q' to the dtype of 'k' for this call",
                                 "cast 'q' to the dtype of 'v' for this call"});
}

TEST_CASE("candidates: what the finding calls half stays, and what is wide is cast at once") {
  const Module module = parse(kModule);
  Finding two = widened();
  two.operands = {{"q", {"float32"}, {}, {}, "", {}},
                  {"k", {"float16", "float32"}, {}, {}, "", {}},
                  {"v", {"float16"}, {}, {}, "", {}}};
  CHECK(titles(module, two, kSource).size() == 3);  // k may be wide on purpose: it is not what is wrong
  two.sinks.push_back({"flash_attn_func", "k", place(kCall)});
  const std::vector<std::string> all = titles(module, two, kSource);
  REQUIRE(all.size() == 5);
  CHECK(all[2] == "cast 'q' to the dtype of 'v' for this call");
  CHECK(all[3] == "cast 'k' to the dtype of 'v' for this call");
  CHECK(all[4] == "cast 'q' and 'k' to the dtype of 'v' for this call");
  two.operands[0].dtypes = {"int64"};
  for (const std::string& each : titles(module, two, kSource))
    CHECK(each.find("cast 'q'") == std::string::npos);  // positions are no numbers to round
}

TEST_CASE("edited module: of copies of one expression each takes the dtype of what it is made of") {
  const std::string twice =
      "file \"a.cpp\"\nfunction f main ; a.cpp:1:5-1:6\n  variables q, w, k\nb0:\n"
      "  %1 = load q ; 2:7-2:8 tensor \"q\"\n  %2 = load w ; 2:11-2:12 tensor \"w\"\n"
      "  %3 = op mul(self=%1, other=%2) ; 2:7-2:12 tensor \"q * w\"\n  store q, %3\n"
      "  %4 = load q ; 2:7-2:8 tensor \"q\"\n  %5 = load w ; 2:11-2:12 tensor \"w\"\n"
      "  %6 = op mul(self=%4, other=%5) ; 2:7-2:12 tensor \"q * w\"\n  store q, %6\n"
      "  %7 = load k ; 3:1-3:2 tensor \"k\"\n  return\n";
  Module module = parse(twice);
  const auto casts = [&](const CastEdit& edit) {
    EditedModule edited(module);
    const bool done = edited.add(edit);
    int out = 0;
    for (const Instruction& each : module.functions[0].blocks[0].instructions) out += each.name == "to";
    return done ? out : -1;
  };
  CHECK(casts(behind_product("q")) == 2);
  CHECK(casts(behind_product("k")) == -1);  // it may be narrower than what is wide there on purpose
  CastEdit of_call = behind_product("k");
  of_call.for_call = true;
  CHECK(casts(of_call) == 2);
}

TEST_CASE("edited module: what is several tensors, or a part of them, is not cast as a whole") {
  const std::string text =
      "file \"a.cpp\"\nfunction f main ; a.cpp:1:5-1:6\n  variables q, a\nb0:\n"
      "  %1 = load q ; 2:7-2:8 tensor \"q\"\n  %2 = op sort(self=%1) ; 2:7-2:12 tensor \"q.s()\"\n"
      "  %3 = pack(%2, %2) ; 2:7-2:12 tensor \"q.s()\"\n";
  const std::string part =
      "  %4 = const 0 ; 2:7-2:12 tensor \"q.s()\"\n"
      "  %5 = op subscript(self=%3, index=%4) ; 2:7-2:12 tensor \"q.s()\"\n  store a, %5\n";
  for (const std::string& rest : {std::string(), part}) {
    Module module = parse(text + rest + "  return\n");
    EditedModule edited(module);
    CHECK(!edited.add(behind_product("q")));
  }
}

TEST_CASE("edited module: a variable that holds the dtype of a tensor says what to cast to") {
  const std::string head =
      "file \"a.py\"\nfunction f main ; a.py:1:5-1:6\n  variables q, t\nb0:\n"
      "  %1 = load q ; 1:7-1:8 tensor \"q\"\n  %2 = dtype_of %1\n"
      "  store t, %2 ; 1:1-1:2\n";
  const std::string tail = "  %3 = op mul(self=%1, other=%1) ; 2:7-2:12 tensor \"q * q\"\n  return %3\n";
  CastEdit edit = behind_product("t");
  edit.names_dtype = true;
  Module module = parse(head + tail);
  CHECK(dtype_names(module.functions[0], kProduct) == std::vector<std::string>{"t"});
  CHECK(EditedModule(module).add(edit));
  Module twice = parse(head + "  %9 = const float32\n  store t, %9 ; 1:1-1:2\n" + tail);
  CHECK(dtype_names(twice.functions[0], kProduct).empty());
  CHECK(!EditedModule(twice).add(edit));
}

TEST_CASE("uses of a value end where its variable is given another for certain") {
  const auto uses = [](const std::string& rest) {
    const Module module = parse(
        "file \"a.py\"\nfunction f ; a.py:1:5-1:6\n  parameter x: tensor\n  variables q\nb0:\n  %1 = param "
        "0\n"
        "  %2 = op mul(self=%1, other=%1) ; 2:7-2:12 tensor \"x * x\"\n  store q, %2 ; 2:1-2:2\n"
        "  %3 = load q ; 3:1-3:2\n  %4 = op neg(self=%3) ; 3:1-3:3\n" +
        rest +
        "b1:\n  store q, %1 ; 4:1-4:2\n  jump b2\nb2:\n  %5 = load q ; 5:1-5:2\n"
        "  %6 = op neg(self=%5) ; 5:1-5:3\n  return\n");
    return uses_of(module.functions[0], *expression_in(module.functions[0], kProduct), "").others;
  };
  CHECK(uses("  jump b1\n") == 1);
  CHECK(uses("  %9 = const unknown\n  branch %9 ? b1 : b2\n") == 2);
}

TEST_CASE("round flow: a call of a field runs what the field can hold") {
  const auto comes_back = [](const std::string& held) {
    const Module module = parse(
        "file \"a.py\"\nclass \"Norm\"\nclass \"A\"\n"
        "constructor \"A.__init__\" key \"init\" of \"A\" module ; a.py:1:1-1:2\nb0:\n  %1 = param 0\n" +
        held +
        "  store %1.first, %3\n  return\n"
        "method \"Norm.forward\" key \"norm\" of \"Norm\" module ; a.py:2:1-2:2\n  parameter x: tensor\nb0:\n"
        "  %1 = param 0\n  %2 = param 1\n  %3 = op mul(self=%2, other=%2) ; 2:7-2:12 tensor \"x * x\"\n"
        "  return %3\n"
        "method \"A.forward\" key \"f\" of \"A\" module ; a.py:3:1-3:2\n  parameter x: tensor\nb0:\n"
        "  %1 = param 0\n  %2 = param 1\n  %3 = load %1.norm\n  %4 = call \"attribute::__call__\"(%3, %2)\n"
        "  %5 = load %1.first\n  %6 = call \"attribute::__call__\"(%5, %4)\n  return\n");
    RoundFlow round(module);
    const Instruction* product = expression_in(module.functions[1], kProduct);
    REQUIRE(product);
    return round.comes_back(module.functions[1], *product, Finding()).how != ComesBack::kNever;
  };
  CHECK_FALSE(comes_back("  %3 = module \"torch.nn.Linear\"()\n"));
  CHECK(comes_back("  %3 = object \"Norm\"()\n"));
  CHECK(comes_back("  %3 = const unknown\n"));
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
