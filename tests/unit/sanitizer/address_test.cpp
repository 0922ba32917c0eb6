// Names of functions as reports show them.
#include "sanitizer/symbolize/address.h"

#include "tests/catch.h"

using namespace dtype_guard::san;

TEST_CASE("a qualified name has no parameters, qualifiers or return type") {
  CHECK(qualified_name("main") == "main");
  CHECK(qualified_name("f(at::Tensor const&, int)") == "f");
  CHECK(qualified_name("ns::C::forward(at::Tensor const&) const") == "ns::C::forward");
  CHECK(qualified_name("(anonymous namespace)::attend(DLDataType)") == "(anonymous namespace)::attend");
  CHECK(qualified_name("int ns::f<int>(int)") == "ns::f<int>");
  CHECK(qualified_name("void ns::f<void (int)>(std::pair<int, int>)") == "ns::f<void (int)>");
  CHECK(qualified_name("main::{lambda(int)#1}::operator()(int) const") ==
        "main::{lambda(int)#1}::operator()");
  CHECK(qualified_name("ns::operator<<(std::ostream&, X)") == "ns::operator<<");
  CHECK(qualified_name("C::operator bool() const") == "C::operator bool");
  CHECK(qualified_name("my_operator()") == "my_operator");
  CHECK(qualified_name("") == "");
}

TEST_CASE("demangling") {
  CHECK(demangle("_ZN2ns1fEi") == "ns::f(int)");
  CHECK(demangle("plain_c") == "plain_c");
  CHECK(demangle("_Z not mangled") == "_Z not mangled");
}
