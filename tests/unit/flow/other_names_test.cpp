// What is known of a tensor on one path or by one name, and what of it holds on another and by another name.
#include <fmt/format.h>

#include "tests/catch.h"
#include "tests/unit/flow/lint_text.h"

namespace dtype_guard::flow {
namespace {

TEST_CASE("a setting converts what a constructor converts on other paths only") {
  const auto converted = [](const char* dtype, const char* setting) {
    return findings(fmt::format(R"IR(
constructor Scaled::Scaled key ctor of Scaled
  parameter flag: number "bool"
b0:
  %1 = param 0
  %2 = param 1
  %3 = const 2
  %4 = pack(%3, %3)
  %5 = op ones(%4) ; 5:3-5:9 "ones"
  %6 = register parameter "scale", %1, %5
  store %1.scale, %6
  branch %2 ? b1 : b2
b1:
  %7 = const {}
  retype %1, %7 ; 7:3-7:9 "to"
  jump b2
b2:
  return

method Scaled::forward key forward of Scaled
b0:
  %1 = param 0
  %2 = load %1.scale
  %3 = sink flash(q=%2, k=%2, v=%2) ; 99:3-99:20 "flash(scale)"
  return
)IR",
                                dtype),
                    {{setting}, true});
  };
  CHECK(converted("float16", "fp16").empty());
  CHECK(converted("bfloat16", "fp16").empty());
  CHECK(converted("float32", "fp16").size() == 1);
  CHECK(converted("float16", "fp32").size() == 1);
}

}  // namespace
}  // namespace dtype_guard::flow
