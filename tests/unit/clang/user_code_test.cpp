// Whose code it is.
#include "analyzer/source/user_code.h"

#include <unistd.h>

#include <filesystem>

#include "tests/catch.h"
#include "tests/unit/clang/snippet.h"

namespace dtype_guard::source {
namespace {
using clang_front_end::lower;
using clang_front_end::LoweringOptions;

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

TEST_CASE("headers beside the project are neighbours, installed ones and other repositories are not") {
  namespace fs = std::filesystem;
  const fs::path top = fs::temp_directory_path() / ("dtype_guard_neighbours." + std::to_string(getpid()));
  fs::remove_all(top);
  for (const char* folder :
       {"ours/.git", "ours/src", "ours/common", "theirs/.git", "prefix/include", "prefix/lib", "loose"})
    fs::create_directories(top / folder);
  const UserCode code((top / "ours/src").string(), {"*/vendored/*"});
  CHECK(code.is_neighbour((top / "ours/common/a.h").string()));
  CHECK(code.is_neighbour((top / "loose/a.h").string()));
  CHECK_FALSE(code.is_neighbour((top / "ours/src/a.h").string()));  // it is the user's own
  CHECK_FALSE(code.is_neighbour((top / "ours/vendored/a.h").string()));
  CHECK_FALSE(code.is_neighbour((top / "theirs/a.h").string()));
  CHECK_FALSE(code.is_neighbour((top / "prefix/include/lib/a.h").string()));
  CHECK_FALSE(code.is_neighbour("/usr/include/a.h"));
  fs::remove_all(top);
}

TEST_CASE("a package inside the project is not the user's, whatever found its headers") {
  const char* widening =
      "namespace lib { float* widen(float*); inline float* twice(float* x) { return widen(x); } }\n";
  const auto functions = [&](const std::string& header, const std::string& mark, const char* option) {
    LoweringOptions options;
    options.user_code = UserCode("/project", {});
    const std::string folder = header.substr(0, header.rfind('/'));
    options.files["/project/src/code.cpp"] =
        "#include <lib.h>\nfloat* use(float* x) { return lib::twice(x); }\n";
    options.files[header] = widening;
    if (!mark.empty()) options.files[mark] = "";
    std::string names;
    for (const flow::Function& each :
         lower({"/", "/project/src/code.cpp", {"c++", option, folder}}, options).module.functions)
      names += each.name + " ";
    return names;
  };
  for (const char* option : {"-I", "-isystem"}) {
    INFO(option);
    CHECK(functions("/project/deps/lib.h", "", option) == "lib::twice use ");
    CHECK(functions("/project/deps/include/lib.h", "/project/deps/share/cmake/Lib/LibConfig.cmake", option) ==
          "use ");
    CHECK(functions("/project/deps/include/lib.h", "/project/deps/include/ATen/ATen.h", option) == "use ");
    CHECK(functions("/project/deps/torch/csrc/lib.h", "/project/deps/c10/core/ScalarType.h", option) ==
          "use ");
    // The project's own installation files, and the library that is compiled itself.
    CHECK(functions("/project/include/lib.h", "/project/share/cmake/Ours/OursConfig.cmake", option) ==
          "lib::twice use ");
    CHECK(functions("/project/src/lib.h", "/project/src/ATen/ATen.h", option) == "lib::twice use ");
  }
  CHECK(functions("/beside/lib.h", "", "-I") == "lib::twice use ");
  CHECK(functions("/beside/lib.h", "/beside/ATen/ATen.h", "-I") == "use ");
}

TEST_CASE("the version of libtorch is that of the first headers on the include path") {
  const auto header = [](const char* minor) {
    return std::string("#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR ") + minor + "\n";
  };
  LoweringOptions options;
  options.user_code = UserCode("/project", {});
  options.files["/project/code.cpp"] = "namespace at { class Tensor; }\n";
  options.files["/new/torch/headeronly/version.h"] = header("13");
  options.files["/new/torch/csrc/api/include/torch/version.h"] = "#include <torch/headeronly/version.h>\n";
  options.files["/old/torch/csrc/api/include/torch/version.h"] = header("4");
  const auto version = [&](const char* first, const char* second) {
    return lower({"/", "/project/code.cpp", {"c++", "-I", first, "-I", second}}, options).torch_version;
  };
  CHECK(version("/new", "/old") == "2.13");
  CHECK(version("/old", "/new") == "2.4");
}

}  // namespace
}  // namespace dtype_guard::source
