// Compile commands written for other compilers.
#include <algorithm>

#include "analyzer/clang/front_end.h"
#include "tests/catch.h"
#include "tests/unit/clang/snippet.h"

namespace dtype_guard::clang_front_end {
namespace {

std::vector<std::string> adjusted(const std::vector<std::string>& arguments) {
  return adjusted_command({"/project", "/project/a.cpp", arguments}, {});
}

bool has(const std::vector<std::string>& list, const std::string& one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

TEST_CASE("what changes the meaning of the source stays, the rest goes") {
  const auto command =
      adjusted({"/usr/bin/g++", "-std=gnu++20", "-O2", "-I", "inc", "-DX=1", "-isystem", "/opt/torch",
                "-fno-exceptions", "-march=native", "-o", "a.o", "-c", "a.cpp"});
  for (const char* kept :
       {"-std=gnu++20", "-I", "inc", "-DX=1", "-isystem", "/opt/torch", "-fno-exceptions"}) {
    CHECK(has(command, kept));
  }
  for (const char* gone : {"-o", "a.o", "-c", "a.cpp"}) CHECK_FALSE(has(command, gone));
  CHECK(command.front() == "clang++");
  CHECK(command.back() == "/project/a.cpp");
}

TEST_CASE("flags that only GCC knows do not reach Clang") {
  const auto command = adjusted({"g++", "-fno-gnu-unique", "-fanalyzer", "-Wlogical-op",
                                 "-Wno-maybe-uninitialized", "-mno-avx256-split-unaligned-load", "-MD", "-MF",
                                 "a.d", "-MT", "a.o", "--param", "max-inline-insns-single=10", "a.cpp"});
  for (const char* gone : {"-fno-gnu-unique", "-fanalyzer", "-Wlogical-op", "-MD", "-MF", "a.d", "--param",
                           "max-inline-insns-single=10"}) {
    CHECK_FALSE(has(command, gone));
  }
}

TEST_CASE("a command full of foreign flags still lowers") {
  const LoweredSource source =
      lower_snippet("int f() { return 1; }", {"-fno-gnu-unique", "-fanalyzer", "-Wlogical-op", "-flto=auto",
                                              "-ffat-lto-objects", "-mindirect-branch=thunk"});
  CHECK(source.errors.empty());
  CHECK(source.module.functions.size() == 1);
}

TEST_CASE("an unknown file is an error that names it") {
  const LoweredSource source = lower({"/", "/nowhere/none.cpp", {"c++"}}, {});
  REQUIRE(source.errors.size() == 1);
  CHECK(contains(source.errors[0].message, "none.cpp"));
}

}  // namespace
}  // namespace dtype_guard::clang_front_end
