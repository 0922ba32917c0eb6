// Where ways meet: what is known of the tensor that one of them brought is not known of what they give
// together, and what all of them prove is.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/flow/state/state.h"
#include "tests/catch.h"
#include "tests/unit/flow/lint_text.h"

namespace dtype_guard::flow {
namespace {
using Found = std::vector<std::string>;

std::string chosen(const char* condition, const std::string& other) {
  return fmt::format("  store v, %1\n  branch {} ? b1 : b2\nb1:\n{}  store v, %20\n  jump b2\nb2:\n",
                     condition, other);
}
const std::string kCall =
    "  %30 = load v\n  %31 = sink flash(q=%30, k=%30, v=%30) ; 99:3-99:20 \"flash(v)\"\n";

TEST_CASE("what may be the tensor that a module owns is converted with it, or not") {
  const std::string either = chosen("%3", "  %20 = op neg(self=%1)\n");
  const std::string module = "  %21 = object Holder()\n  %22 = const bfloat16\n";
  const std::string convert = "  retype %21, %22\n";
  CHECK(findings_of_body(either + module + convert + kCall, "fp32").size() == 1);
  CHECK(findings_of_body(either + module + "  %23 = register parameter \"a\", %21, %1\n" + convert + kCall,
                         "fp32")
            .empty());
  CHECK(findings_of_body("  store v, %1\n" + module + "  %23 = register parameter \"a\", %21, %1\n" + kCall,
                         "fp32")
            .size() == 1);
}

TEST_CASE("unseen code that is handed a list may put another tensor into it") {
  const auto read = [](const std::string& code) {
    return findings(attention_main("  %10 = object Owner()\n  %11 = const 8\n  %12 = pack(%11, %11)\n"
                                   "  %13 = op ones(%12)\n  %14 = register buffer \"w\", %10, %13\n"
                                   "  %15 = pack(%14)\n" +
                                       code + "  retype %10, %103\n  %18 = load %15[0]\n",
                                   "%1", "%18", "%18"))
        .size();
  };
  CHECK(read("") == 1);
  CHECK(read("  %16 = call unseen(%15)\n") == 0);
}

TEST_CASE("what is stored in one of two lists is what is read there") {
  const auto stored = [](const char* dtype) {
    return findings_of_body(fmt::format(R"IR(  %11 = op ones(%10) ; 11:3-11:9 "old"
  %12 = pack(%11)
  %13 = pack(%1)
  branch %3 ? b1 : b2
b1:
  jump b3
b2:
  jump b3
b3:
  %14 = phi %12, %13
  %15 = const {}
  %16 = op zeros(%10, dtype=%15) ; 16:3-16:9 "new"
  store %14[0], %16
  %17 = load %14[0]
  %18 = sink flash(q=%1, k=%1, v=%17) ; 99:3-99:20 "flash(q, q, new)"
)IR",
                                        dtype),
                            "bf16");
  };
  CHECK(stored("float32") == Found{"16 attention-mixed-dtypes v in f [bf16]"});
  CHECK(stored("bfloat16").empty());
}

TEST_CASE("a descriptor of what is stored in one of two lists is of that") {
  const auto described = [](const char* dtype) {
    return findings_of_body(fmt::format(R"IR(  %11 = op ones(%10) ; 11:3-11:9 "old"
  %12 = pack(%11)
  %13 = pack(%1)
  branch %3 ? b1 : b2
b1:
  jump b3
b2:
  jump b3
b3:
  %14 = phi %12, %13
  %15 = const {}
  %16 = op zeros(%10, dtype=%15) ; 16:3-16:9 "new"
  store %14[0], %16
  %17 = load %14[0]
  %18 = object DLTensor()
  store %18.data, %17
  store %18.dtype, %15
  %19 = sink flash(q=%1, k=%1, v=%18) ; 99:3-99:20 "flash(q, q, new)"
)IR",
                                        dtype),
                            "bf16");
  };
  CHECK(described("float32") == Found{"16 attention-mixed-dtypes v in f [bf16]"});
  CHECK(described("bfloat16").empty());
}

TEST_CASE("a descriptor states the dtype of its data, and not which of several they are") {
  const auto described = [](const char* stored) {
    return findings_of_body(fmt::format(R"IR(  %11 = op ones(%10)
  %12 = op mul(%1, %11) ; 12:3-12:9 "wide"
  %13 = pack(%12)
  %14 = pack(%12)
  branch %3 ? b1 : b2
b1:
  jump b3
b2:
  jump b3
b3:
  %15 = phi %13, %14
{}  %16 = load %15[0]
  %17 = object DLTensor()
  %18 = const float32
  store %17.data, %16
  store %17.dtype, %18
  %19 = sink flash(q=%17, k=%1, v=%1) ; 99:3-99:20 "flash(data)"
)IR",
                                        stored),
                            "bf16");
  };
  CHECK(described("") == Found{"12 attention-implicit-promotion q in f [bf16]"});
  CHECK(described("  store %15[0], %2\n") == Found{"99 attention-mixed-dtypes q in f [bf16]"});
}

TEST_CASE("where a number decides twice, what it cannot have led to is not where a dtype comes from") {
  const auto chosen_by = [](const char* second) {
    return findings_of_body(fmt::format(R"IR(  %11 = const 1
  %12 = op eq(%4, %11)
  store v, %1
  branch %12 ? b1 : b2
b1:
  %13 = op ones(%10)
  %14 = op mul(%1, %13)
  store v, %14
  jump b2
b2:
  %15 = op {}
  branch %15 ? b3 : b4
b3:
  %16 = load v
  %17 = op float(%16) ; 17:3-17:9 "first"
  store v, %17
  jump b5
b4:
  %18 = op ones(%10) ; 18:3-18:9 "second"
  store v, %18
  jump b5
b5:
  %30 = load v
  %31 = sink flash(q=%2, k=%2, v=%30) ; 99:3-99:20 "flash(v)"
)IR",
                                        second),
                            "bf16");
  };
  const std::string first = "17 attention-mixed-dtypes v in f [bf16]";
  const auto has_first = [&](const Found& all) {
    return std::find(all.begin(), all.end(), first) != all.end();
  };
  CHECK_FALSE(has_first(chosen_by("eq(%4, %5)")));
  CHECK(!chosen_by("eq(%4, %5)").empty());
  CHECK(has_first(chosen_by("logical_not(%3)")));
}

TEST_CASE("what a tensor holds behind one way of a branch is not what refers to it behind the other") {
  const auto held = [](const char* other) {
    return findings_of_body(fmt::format(R"IR(  %11 = object Holder()
  %12 = op ones(%10) ; 12:3-12:9 "weight"
  %13 = register parameter "weight", %11, %12
  %14 = const bfloat16
  %15 = op zeros(%10, dtype=%14)
  store v, %15
  %16 = call any_bool()
  branch %16 ? b1 : b2
b1:
  retype %11, %14
  store v, %13
  jump b3
b2:
{}  jump b3
b3:
  %30 = load v
  %31 = sink flash(q=%30, k=%2, v=%2) ; 99:3-99:20 "flash(v)"
)IR",
                                        other),
                            "bf16");
  };
  CHECK(held("").empty());
  CHECK(held("  store v, %13\n") == Found{"12 attention-mixed-dtypes q in f [bf16]"});
}

TEST_CASE("behind an operator in place is what can hold what it writes") {
  const auto written = [](const std::string& write) {
    return findings_of_body(
        "  %11 = op full(%10, %5) ; 11:3-11:9 \"counts\"\n  branch %3 ? b1 : b2\nb1:\n  jump b3\nb2:\n"
        "  jump b3\nb3:\n  %12 = phi %11, %1\n" +
            write + "  %13 = sink flash(q=%2, k=%2, v=%12) ; 99:3-99:20 \"flash(v)\"\n",
        "bf16");
  };
  CHECK(written("  %20 = op mul_(self=%12, other=%2)\n").empty());
  CHECK(written("  %20 = op mul_(self=%12, other=%5)\n") == Found{"11 attention-mixed-dtypes v in f [bf16]"});
}

TEST_CASE("a call that casts its operands under autocast gives back their dtype where that may be off") {
  const auto beside = [](const char* on) {
    return findings_of_body(fmt::format(R"IR(  %11 = const {}
  set_autocast cuda(on=%11)
  %12 = op ones(%10) ; 12:3-12:9 "wide"
  %13 = sink sdpa(q=%12, k=%12, v=%12) ; 13:3-13:9 "sdpa(wide)"
  %14 = dtype_of %13
  %15 = const float32
  %16 = op eq(%14, %15)
  branch %16 ? b1 : b2
b1:
  %18 = sink flash(q=%1, k=%1, v=%12) ; 99:3-99:20 "flash(q, q, wide)"
  jump b2
b2:
)IR",
                                        on),
                            "autocast-bf16");
  };
  CHECK(beside("true").empty());
  CHECK(beside("unknown").size() == 1);
}

TEST_CASE("a number that is no condition's truth is 0, and a number of a caller's is asked once") {
  const std::string wide = chosen("%4", "  %20 = op ones(%10) ; 20:3-20:9 \"wide\"\n");
  CHECK(findings_of_body(wide + kCall, "bf16").size() == 1);
  CHECK(findings_of_body("  %11 = op logical_not(%4)\n  assume %11\n" + wide + kCall, "bf16").empty());
}

TEST_CASE("what needs a dimension leaves out those of several tensors that have none") {
  const std::string wide = chosen("%3", "  %19 = pack()\n  %20 = op ones(%19) ; 20:3-20:9 \"wide\"\n");
  const std::string asked = "  %24 = load v\n  %25 = const 0\n  %26 = op size(self=%24, dim=%25)\n";
  CHECK(findings_of_body(wide + kCall, "bf16").size() == 1);
  CHECK(findings_of_body(wide + asked + kCall, "bf16").empty());
}

TEST_CASE("a joined value is one of its own unless both are one") {
  SymbolSets symbols;
  const Value tensor(Alternative::tensor(Dtype::kFloat16, Rank::exactly(2)));
  const Value alike(Alternative::tensor(Dtype::kFloat16, Rank::exactly(2)));
  CHECK(join(tensor, tensor, symbols).same(tensor));
  CHECK(join(tensor, alike, symbols) == tensor);
  CHECK_FALSE(join(tensor, alike, symbols).same(tensor));
  CHECK_FALSE(join(tensor, alike, symbols).same(alike));
  CHECK(of_several(tensor, {&tensor, &alike}).single()->of_several);
  CHECK_FALSE(of_several(tensor, {&tensor, &tensor}).single()->of_several);
}

TEST_CASE("places that hold one value on each way hold one where these meet") {
  const auto holding = [](const Value& a, const Value& b) {
    State out;
    out.values.change(1) = a;
    HeapObject object;
    object.cells[HeapObject::kContents] = b;
    out.put(1, std::move(object));
    return out;
  };
  const auto cell = [](const State& state) { return state.find(1)->cells.at(HeapObject::kContents); };
  SymbolSets symbols;
  const Value x = Value::unknown(), like_x = Value::unknown(), y(Alternative::a_dtype(Dtype::kFloat32)),
              like_y(Alternative::a_dtype(Dtype::kFloat32));
  const State one = holding(x, x), other = holding(y, y), apart = holding(x, like_x);
  const State both = join({&one, &other}, symbols, {});
  CHECK(cell(both).same(both.values[1]));
  const State met = join({&one, &apart}, symbols, {});
  CHECK(met == one);
  CHECK_FALSE(cell(met).same(met.values[1]));
  // Of what is known there is nothing to learn.
  const State known = holding(y, y), other_known = holding(y, like_y);
  const State both_known = join({&known, &other_known}, symbols, {});
  CHECK(cell(both_known).same(both_known.values[1]));
  CHECK(tells_apart_alike(one, one));
  CHECK(tells_apart_alike(apart, one));
  CHECK_FALSE(tells_apart_alike(one, apart));
  CHECK(tells_apart_alike(one, holding(like_x, like_x)));
}

// `for (each : list) v = two; if (flag) v = v * wide;`, from its first round on or from the loop on.
TEST_CASE("that no round comes says nothing of other questions, in the loop and in a first round before it") {
  const auto widened = [](const char* entry) {
    return findings_of_body(fmt::format(R"IR(  store v, %1
  %11 = op ones(%10)
  jump {}
b1:
  %12 = op more_elements()
  branch %12 ? b2 : b3
b2:
  store v, %5
  jump b1
b3:
  branch %3 ? b4 : b7
b4:
  %13 = load v
  %14 = op mul(%13, %11) ; 14:3-14:9 "mul"
  store v, %14
  jump b7
b5:
  %15 = op more_elements()
  branch %15 ? b6 : b3
b6:
  store v, %5
  jump b1
b7:
  %30 = load v
  %31 = sink flash(q=%30, k=%2, v=%2) ; 99:3-99:20 "flash(v)"
)IR",
                                        entry),
                            "bf16");
  };
  CHECK(widened("b1") == Found{"14 attention-implicit-promotion q in f [bf16]"});
  CHECK(widened("b5") == widened("b1"));
}

TEST_CASE("which round it is is asked behind the branch that the loop stands in") {
  CHECK(findings_of_body(R"IR(  store v, %1
  branch %3 ? b1 : b5
b1:
  jump b2
b2:
  %11 = op more_elements()
  branch %11 ? b3 : b4
b3:
  %12 = op ones(%10) ; 12:3-12:9 "wide"
  store v, %12
  jump b2
b4:
  jump b5
b5:
  %30 = load v
  %31 = sink flash(q=%1, k=%1, v=%30) ; 99:3-99:20 "flash(q, q, v)"
)IR",
                         "bf16")
            .size() == 1);
}

}  // namespace
}  // namespace dtype_guard::flow
