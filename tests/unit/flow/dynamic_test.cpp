// Code without static types: calls by attribute, arguments by name, operators that what arrives decides.
#include "tests/catch.h"
#include "tests/unit/flow/lint_text.h"

namespace dtype_guard::flow {
namespace {
using Found = std::vector<std::string>;
const LintOptions kAutocast{{"autocast-bf16"}};

// A module whose field `part` holds PART; forward calls it by attribute.
std::string module_with(const std::string& part, const std::string& call) {
  return R"IR(
constructor "Outer.__init__" key "outer init" of Outer module
b0:
  %1 = param 0
)IR" + part +
         R"IR(
  %9 = register attribute "part", %1, %8
  store %1.part, %9
  return

method "Outer.forward" key "outer forward" of Outer module
  parameter q: tensor
  parameter k: tensor
b0:
  %1 = param 0
  %2 = param 1
  %3 = param 2
  %4 = load %1.part
)IR" + call +
         R"IR(
  %8 = sink flash(q=%7, k=%3, v=%3) ; 30:3-30:20
  return
)IR";
}

const char* const kScaled = R"IR(
constructor "Scaled.__init__" key "scaled init" of Scaled module
b0:
  %1 = param 0
  return

method "Scaled.forward" key "scaled forward" of Scaled module
  parameter x: tensor
  parameter gain: other = none
b0:
  %1 = param 0
  %2 = param 1
  %3 = param 2
  %4 = op defined(self=%3)
  branch %4 ? b1 : b2
b1:
  %5 = const float32
  %6 = cast %2, %5 ; 20:3-20:10
  return %6
b2:
  return %2
)IR";

TEST_CASE("a call by attribute runs the method of what the object is") {
  const std::string made = "  %8 = object Scaled()\n  %7 = call \"scaled init\"(%8)\n";
  const auto with = [&](const std::string& arguments) {
    return findings("class Outer\nclass Scaled\n" +
                        module_with(made, "  %7 = call attribute::__call__(%4, " + arguments + ")\n") +
                        kScaled,
                    kAutocast);
  };
  CHECK(with("%2").empty());  // the default is none
  CHECK(with("x=%2").empty());
  CHECK(with("%2, %3") == Found{"20 attention-mixed-dtypes q in Scaled.forward [autocast-bf16]"});
  CHECK(with("gain=%3, x=%2") == Found{"20 attention-mixed-dtypes q in Scaled.forward [autocast-bf16]"});
}

TEST_CASE("a parameter is registered by what is assigned, and a plain tensor is not") {
  const auto with = [](const std::string& value) {
    return findings(
        "class Outer\n" + module_with("  %2 = const 8\n  %3 = pack(%2)\n  %4 = op ones(%3)\n" + value,
                                      "  %7 = op mul(self=%2, other=%4) ; 21:3-21:10\n"),
        {{"bf16"}});
  };
  CHECK(with("  %8 = op parameter(self=%4)\n").empty());  // a half model's parameter is half
  CHECK(with("  %8 = copy %4\n").size() == 1);
  // `nn.Parameter(...) if scales else 1.0`: of a number nothing is registered.
  CHECK(with("  %5 = op parameter(self=%4)\n  %6 = const 1.0\n  %8 = phi %5, %6\n").empty());
  CHECK(with("  %6 = const 1.0\n  %8 = phi %4, %6\n").size() == 1);
}

TEST_CASE("an element of a list is told from a part of a tensor") {
  const auto with = [](const std::string& body) {
    return findings(attention_main(
                        "  %20 = const float32\n  %21 = cast %1, %20 ; 20:3-20:9\n  %22 = pack(%21, %2)\n"
                        "  %23 = const 0\n  %24 = const 1\n" +
                            body,
                        "%30", "%2", "%3"))
        .size();
  };
  CHECK(with("  %30 = op subscript(self=%22, index=%23)\n") == 1);
  CHECK(with("  %30 = op subscript(self=%22, index=%24)\n") == 0);
  CHECK(with("  %30 = op subscript(self=%21, index=%24)\n") == 1);
  CHECK(with("  %30 = op subscript(self=%2, slice=%24)\n") == 0);
  CHECK(with("  %25 = op store_element(self=%22, values=%2, index=%23)\n  %30 = op subscript(self=%22, "
             "index=%23)\n") == 0);
}

TEST_CASE("an augmented assignment is in place for a tensor") {
  const auto with = [](const std::string& target) {
    return findings(attention_main("  %20 = const float32\n  %21 = cast %1, %20\n"
                                   "  %30 = op augmented::add(self=" +
                                       target + ", other=%21) ; 20:3-20:9\n",
                                   "%30", "%2", "%3"))
        .size();
  };
  CHECK(with("%2") == 0);
  CHECK(with("%21") == 1);
}

TEST_CASE("an operator with an unknown operand and a float32 tensor with dimensions gives no half") {
  const auto with = [](const std::string& other) {
    return findings(
               attention_main("  %20 = const float32\n  %21 = op ones(%101, dtype=%20)\n  %22 = op unseen()\n"
                              "  %30 = op addcmul(self=%1, tensor1=%22, tensor2=" +
                                  other + ") ; 20:3-20:9\n",
                              "%30", "%2", "%3"))
        .size();
  };
  CHECK(with("%21") == 1);
  CHECK(with("%2") == 0);
}

TEST_CASE("a comparison with what is not known is a number's or a tensor's") {
  const auto with = [](const std::string& other) {
    return findings(attention_main("  %20 = op unseen()\n  %21 = const 0\n  %22 = op lt(" + other +
                                       ", %21)\n  %23 = op to(%22, dtype=%103)\n  %30 = op mul(%1, %23)\n"
                                       "  %31 = op to(%30, dtype=%102)\n",
                                   "%31", "%30", "%3"))
        .size();
  };
  CHECK(with("%20") == 0);
  CHECK(with("%2") == 1);
}

TEST_CASE("an element that is stored without a value is not known") {
  CHECK(
      findings(attention_main("  %20 = pack(%1)\n  %21 = const 0\n  %22 = op store_element(%20, index=%21)\n"
                              "  %23 = load %20[0]\n",
                              "%23", "%2", "%3"))
          .empty());
}

TEST_CASE("an element from the end is written for certain where it is known how many there are") {
  const auto with = [](const std::string& index) {
    return findings(attention_main(
                        "  %20 = const float32\n  %21 = cast %1, %20 ; 20:3-20:9\n  %22 = pack(%1, %2)\n"
                        "  %23 = const " +
                            index +
                            "\n  %24 = op store_element(self=%22, values=%21, index=%23)\n"
                            "  %25 = const 1\n  %30 = op subscript(self=%22, index=%25)\n",
                        "%30", "%2", "%3"))
        .size();
  };
  CHECK(with("-1") == 1);
  CHECK(with("-2") == 0);
}

TEST_CASE("a key that one way to here put into a dictionary is perhaps not there") {
  const auto with = [](const std::string& before, const std::string& within, const std::string& get) {
    return findings_of_body(
               "  %20 = const float32\n  %21 = cast %1, %20 ; 20:3-20:9\n  %22 = object dict()\n" + before +
                   "  branch %3 ? b1 : b2\nb1:\n" + within + "  jump b2\nb2:\n  %23 = const \"x\"\n" + get +
                   "  %30 = sink flash(q=%24, k=%2, v=%2) ; 30:3-30:20\n  return\n",
               "bf16")
        .size();
  };
  const std::string store = "  store %22.x, %21\n";
  const std::string get = "  %24 = op dict_get(self=%22, index=%23, default=%2)\n";
  CHECK(with(store, "", get) == 1);
  CHECK(with("", store, get) == 0);
  CHECK(with("", store, "  %24 = op subscript(self=%22, index=%23)\n") == 1);  // throws where it is not
}

TEST_CASE("an operator that autocast widens gives what an unknown operand may be") {
  const auto with = [](const std::string& name) {
    return findings_of_body("  %20 = op unseen()\n  %21 = op " + name +
                                "(%1, %20, %20)\n  %22 = const float16\n  %23 = cast %2, %22 ; 20:3-20:9\n"
                                "  %30 = sink flash(q=%21, k=%23, v=%23) ; 30:3-30:20\n  return\n",
                            "autocast-bf16")
        .size();
  };
  CHECK(with("linear") == 1);
  CHECK(with("bilinear") == 0);
}

}  // namespace
}  // namespace dtype_guard::flow
