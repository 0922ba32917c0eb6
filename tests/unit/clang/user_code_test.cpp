// Whose code it is.
#include "analyzer/clang/user_code.h"

#include "tests/catch.h"

namespace dtype_guard::clang_front_end {
namespace {

TEST_CASE("user code is below the root and outside what is external") {
  const UserCode code("/home/me/project/", {"*/third_party/*", "/home/me/project/build"});
  CHECK(code.contains("/home/me/project/src/a.cpp"));
  CHECK(code.contains("/home/me/project/src/../src/a.cpp"));
  CHECK_FALSE(code.contains("/home/me/project/../other/a.cpp"));
  CHECK_FALSE(code.contains("/home/me/project2/a.cpp"));
  CHECK_FALSE(code.contains("/home/me/project/third_party/x/a.h"));
  CHECK_FALSE(code.contains("/home/me/project/build/gen.cpp"));
  CHECK(code.contains("/home/me/project/builders/a.cpp"));
}

TEST_CASE("files are named relative to the root, others absolutely") {
  const UserCode code("/home/me/project", {});
  CHECK(code.report_name("/home/me/project/src/a.cpp") == "src/a.cpp");
  CHECK(code.report_name("/usr/include/./a.h") == "/usr/include/a.h");
}

TEST_CASE("patterns") {
  CHECK(matches_pattern("/a/b/c.h", "*/b/*"));
  CHECK(matches_pattern("/a/b/c.h", "*.h"));
  CHECK_FALSE(matches_pattern("/a/b/c.h", "*/c/*"));
  CHECK(matches_pattern("", "*"));
}

}  // namespace
}  // namespace dtype_guard::clang_front_end
