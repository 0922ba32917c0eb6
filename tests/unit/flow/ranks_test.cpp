// What is known of the number of dimensions: only a tensor that has one promotes another, and two of the same
// rank both have one or neither.
#include <fmt/format.h>

#include "tests/catch.h"
#include "tests/unit/flow/lint_text.h"

namespace dtype_guard::flow {
namespace {
using Found = std::vector<std::string>;

// What is found in a function of three tensors of unknown rank: %1 and %2 are half, and the call
// takes what the body leaves in %9, beside %1.
Found found(const std::string& body) {
  return findings(fmt::format(R"IR(
function f
  parameter q: tensor
  parameter table: tensor
  parameter tables: tensor_list
  variables a, b
b0:
  %1 = param 0
  %2 = param 1
  %3 = param 2
  %4 = const float32
  %5 = const 0
  %6 = const 1
  %7 = const 2
  %30 = const unknown
{}  %40 = sink flash(q=%9, k=%1, v=%1) ; 99:3-99:20 "flash(q, k, v)"
  return
)IR",
                              body),
                  {{"bf16"}});
}
const std::string kWide = "  %8 = op to(self=%2, dtype=%4) ; 7:3-7:9 \"wide\"\n";
const std::string kProduct = "  %9 = op mul(self=%1, other=%8) ; 8:3-8:9 \"q * wide\"\n";
bool is_found(const std::string& body) { return !found(body + kWide + kProduct).empty(); }

TEST_CASE("a tensor of unknown rank may have no dimension") { CHECK_FALSE(is_found("")); }

TEST_CASE("what is asked of a tensor, or done with it, proves that it has dimensions") {
  CHECK(is_found("  %10 = op size(self=%2, dim=%5)\n"));
  CHECK(is_found("  %10 = op transpose(self=%2, dim0=%5, dim1=%6)\n"));
  CHECK(is_found("  %10 = op select(self=%2, dim=%5, index=%5)\n"));
  // A 0-dim tensor may be asked for its dimension 0 or -1 here.
  CHECK_FALSE(is_found("  %10 = op softmax(self=%2, dim=%5)\n"));
  CHECK_FALSE(is_found("  %10 = op transpose(self=%2, dim0=%5, dim1=%5)\n"));
  CHECK_FALSE(is_found("  %10 = op size(self=%1, dim=%5)\n"));
}

TEST_CASE("a check of the number of dimensions is a fact on its side of a branch only") {
  const auto checked = [](const std::string& comparison) {
    return is_found("  %10 = op dim(self=%2)\n  %11 = op " + comparison + "\n  assume %11\n");
  };
  CHECK(checked("eq(%10, %7)"));
  CHECK(checked("ge(%10, %6)"));
  CHECK(checked("gt(%10, %5)"));
  CHECK(checked("ne(%10, %5)"));
  CHECK(checked("lt(%5, %10)"));
  CHECK_FALSE(checked("ge(%10, %5)"));
  CHECK_FALSE(checked("ne(%10, %7)"));
  CHECK_FALSE(checked("lt(%10, %7)"));
  CHECK_FALSE(checked("eq(%10, %5)"));
  CHECK_FALSE(is_found(
      "  %10 = op dim(self=%2)\n  %11 = op eq(%10, %7)\n  branch %11 ? b1 : b2\nb1:\n  jump b2\nb2:\n"));
}

TEST_CASE("one of two checks proves what both would") {
  const auto either = [](const std::string& first, const std::string& second) {
    return is_found("  %10 = op dim(self=%2)\n  %11 = op " + first + "\n  %12 = op " + second +
                    "\n  %13 = op logical_or(%11, %12)\n  assume %13\n");
  };
  CHECK(either("eq(%10, %6)", "eq(%10, %7)"));
  CHECK_FALSE(either("eq(%10, %6)", "eq(%10, %5)"));
  CHECK_FALSE(either("eq(%10, %6)", "eq(%30, %7)"));
}

TEST_CASE("two tensors of the same rank promote each other") {
  const auto product = [](const std::string& other) {
    return !found("  %10 = op to(self=%1, dtype=%4)\n" + other + "  %9 = op mul(self=%1, other=%11)\n")
                .empty();
  };
  CHECK(product("  %11 = op exp(self=%10)\n"));
  CHECK(product("  %11 = op ones_like(self=%1, dtype=%4)\n"));
  CHECK(product("  %12 = op sizes(self=%1)\n  %11 = op zeros(size=%12, dtype=%4)\n"));
  CHECK_FALSE(product(
      "  %12 = op sizes(self=%1)\n  store a, %12\n  %13 = load a\n  %11 = op zeros(size=%13, dtype=%4)\n"));
  CHECK_FALSE(product("  %12 = op dim(self=%1)\n  %11 = op zeros(size=%12, dtype=%4)\n"));
  CHECK_FALSE(product("  %12 = op sizes(self=%2)\n  %11 = op zeros(size=%12, dtype=%4)\n"));
  CHECK_FALSE(product("  %11 = op ones_like(self=%2, dtype=%4)\n"));
  CHECK_FALSE(product("  %11 = op sum(self=%10, dim=%5)\n"));
  CHECK(product("  %12 = op unsqueeze(self=%10, dim=%5)\n  %11 = op select(self=%12, dim=%5, index=%5)\n"));
}

TEST_CASE("elements of a list, and what a loop makes, have ranks of their own") {
  CHECK(found("  %10 = load %3[0]\n  %11 = op size(self=%10, dim=%5)\n  %12 = load %3[1]\n" +
              std::string("  %8 = op to(self=%12, dtype=%4)\n") + kProduct)
            .empty());
  // The last round's square is multiplied with this round's.
  CHECK(
      found(
          "  store a, %1\n  jump b1\nb1:\n  %10 = load %3[*]\n  %11 = op squeeze(self=%10)\n  %12 = load a\n"
          "  %13 = op to(self=%11, dtype=%4)\n  %9 = op mul(self=%12, other=%13)\n  store a, %11\n"
          "  branch %30 ? b1 : b2\nb2:\n")
          .empty());
  // This round's is multiplied with itself.
  CHECK_FALSE(found("  jump b1\nb1:\n  %10 = load %3[*]\n  %11 = op squeeze(self=%10)\n"
                    "  %13 = op to(self=%11, dtype=%4)\n  %9 = op mul(self=%11, other=%13)\n"
                    "  branch %30 ? b1 : b2\nb2:\n")
                  .empty());
}

TEST_CASE("an in-place operator that changes the rank makes it unknown") {
  const auto made = [](const std::string& then) {
    return !found("  %10 = pack(%6)\n  %8 = op ones(size=%10, dtype=%4)\n" + then + kProduct).empty();
  };
  CHECK(made(""));
  CHECK(made("  %11 = op exp_(self=%8)\n"));
  CHECK_FALSE(made("  %11 = op squeeze_(self=%8)\n"));
}

TEST_CASE("tensors that are joined or stacked have dimensions, and as many as the others") {
  CHECK(is_found("  %10 = pack(%2, %1)\n  %11 = op cat(tensors=%10, dim=%5)\n"));
  const std::string matrix = "  %10 = pack(%6, %6)\n  %11 = op ones(size=%10)\n  %12 = pack(%11, %2)\n";
  CHECK(is_found(matrix + "  %13 = op stack(tensors=%12, dim=%5)\n"));
  CHECK_FALSE(is_found(matrix));
  // Of two tensors the one stays that has as many.
  const auto chosen = [&](const std::string& operation) {
    return found(matrix + R"IR(  %14 = pack(%6, %6, %6)
  %15 = op ones(size=%14) ; 15:3-15:9 "wide"
  %16 = const bfloat16
  %17 = op ones(size=%10, dtype=%16)
  store a, %17
  branch %30 ? b1 : b2
b1:
  store a, %15
  jump b2
b2:
  %18 = load a
  %19 = pack(%11, %18)
)IR" + operation +
                 "  %9 = load a\n");
  };
  CHECK(chosen("").size() == 1);
  CHECK(chosen("  %20 = op cat(tensors=%19, dim=%5)\n").empty());
}

TEST_CASE("a list that has an element has those before it, and what is added is behind them") {
  const auto found_first = [](const std::string& before) {
    return findings(
               "function f\n  parameter q: tensor\n  parameter all: tensor_list\nb0:\n"
               "  %1 = param 0\n  %2 = param 1\n  %3 = const 2\n  %4 = pack(%3, %3)\n" +
                   before + R"IR(  %5 = op ones(%4) ; 5:3-5:9 "wide"
  store %2[+], %5
  %6 = load %2[0]
  %7 = sink flash(q=%1, k=%1, v=%6) ; 99:3-99:20 "flash(q, q, first)"
  return
)IR",
               {{"bf16"}, true, "cuda", true})
        .size();
  };
  CHECK(found_first("") == 1);
  CHECK(found_first("  %8 = load %2[1]\n") == 0);
  CHECK(found_first("  store %2[1], %1\n") == 0);
  // What was added is not what stands before it, be it of one dtype.
  const Found first = findings(R"IR(
function f
  parameter q: tensor
  parameter all: tensor_list
b0:
  %1 = param 0
  %2 = param 1
  %3 = const 2
  %4 = pack(%3, %3)
  %5 = op ones(%4) ; 5:3-5:9 "wide"
  store %2[+], %5
  %6 = load %2[0]
  %7 = sink flash(q=%6, k=%6, v=%6) ; 99:3-99:20 "flash(first)"
  return
)IR",
                               {{"fp32"}, true});
  CHECK(first == Found{"99 attention-unsupported-dtype k,q,v in f [fp32]"});
}

TEST_CASE("a cast to a dtype settles what was not known, also where it has that dtype already") {
  const Found all =
      found(kWide + "  %10 = op mul(self=%1, other=%8)\n  %9 = cast %10, %4 ; 9:3-9:9 \"cast\"\n");
  CHECK(all == Found{"9 attention-mixed-dtypes q in f [bf16]"});
}

TEST_CASE("beside float64 with dimensions nothing is narrower") {
  const auto behind = [](const std::string& dtype) {
    return is_found(
        "  %10 = pack(%6, %6)\n  %11 = const float64\n  %12 = op ones(size=%10, dtype=%11)\n"
        "  %13 = op sub(self=%30, other=%12)\n  %14 = op ones(size=%10, dtype=%4)\n"
        "  %15 = op add(self=%13, other=%14)\n  %16 = dtype_of %15\n  %17 = const " +
        dtype + "\n  %18 = op eq(%16, %17)\n  assume %18\n  %19 = op size(self=%2, dim=%5)\n");
  };
  CHECK(behind("float64"));
  CHECK_FALSE(behind("float32"));
}

TEST_CASE("a condition and a mask give the result their dimensions") {
  const std::string product = "  %9 = op mul(self=%1, other=%8) ; 8:3-8:9 \"q * wide\"\n";
  const auto masked_by = [&](const std::string& tensor, const std::string& made) {
    const std::string scalar = "  %10 = pack()\n  %11 = op zeros(size=%10, dtype=%4)\n";
    return !found(scalar + "  %13 = op lt(self=" + tensor + ", other=%5)\n" + made + product).empty();
  };
  for (const char* made : {"  %8 = op where(condition=%13, self=%11, other=%11)\n",
                           "  %8 = op masked_fill(self=%11, mask=%13, value=%5)\n"}) {
    CHECK(masked_by("%1", made));  // as many as q has
    CHECK_FALSE(masked_by("%11", made));
  }
}

}  // namespace
}  // namespace dtype_guard::flow
