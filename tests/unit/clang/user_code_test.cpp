// Whose code it is.
#include "analyzer/clang/user_code.h"

#include "tests/catch.h"

namespace dtype_guard::clang_front_end {
namespace {

TEST_CASE("user code is below the root and outside what is external") {
  const UserCode code("/srv/project/", {"*/third_party/*", "/srv/project/build"});
  CHECK(code.contains("/srv/project/src/a.cpp"));
  CHECK(code.contains("/srv/project/src/../src/a.cpp"));
  CHECK_FALSE(code.contains("/srv/project/../other/a.cpp"));
  CHECK_FALSE(code.contains("/srv/project2/a.cpp"));
  CHECK_FALSE(code.contains("/srv/project/third_party/x/a.h"));
  CHECK_FALSE(code.contains("/srv/project/build/gen.cpp"));
  CHECK(code.contains("/srv/project/builders/a.cpp"));
}

TEST_CASE("files are named relative to the root, others absolutely") {
  const UserCode code("/srv/project", {});
  CHECK(code.report_name("/srv/project/src/a.cpp") == "src/a.cpp");
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
