// Functions, lambdas, templates, constants and descriptors.
#include "analyzer/flow/ir/text.h"
#include "tests/catch.h"
#include "tests/unit/clang/snippet.h"

namespace dtype_guard::clang_front_end {
namespace {

TEST_CASE("a lambda is a closure: captures are fields, by reference they are addresses") {
  const std::string code =
      "at::Tensor f(const at::Tensor& x, at::Tensor y) {\n"
      "  auto scale = [&](const at::Tensor& t) { y = t * x; };\n"
      "  scale(x);\n"
      "  return y;\n"
      "}";
  const std::string key = "\"_ZZ1fRKN2at6TensorES0_ENK3$_0clES2_@code.cpp\"";
  CHECK(body(code, "f") ==
        "  %1 = param 0\n"
        "  %2 = param 1\n"
        "  store y, %2\n"
        "  %3 = address y\n"
        "  %4 = closure " +
            key +
            "(y=%3, x=%1)\n"
            "  store scale, %4\n"
            "  %5 = load scale\n"
            "  %6 = call " +
            key +
            "(%5, %1)\n"
            "  %7 = load y\n"
            "  return %7\n");
  CHECK(body(code, "f::lambda") ==
        "  %1 = param 0\n"
        "  %2 = param 1\n"
        "  %3 = load %1.x\n"
        "  %4 = load %3\n"
        "  %5 = op mul(self=%2, other=%4)\n"
        "  %6 = load %1.y\n"
        "  store %6, %5\n"
        "  return\n");
}

TEST_CASE("templates are lowered as they are instantiated, each under its own key") {
  const LoweredSource source = lower_snippet(
      "template <class T> T twice(const T& x) { return x + x; }\n"
      "at::Tensor f(const at::Tensor& x) { return twice(x); }\n"
      "template <class T> T never(const T& x) { return x; }");
  CHECK(contains(body_with_positions(source, "f"), "call _Z5twiceIN2at6TensorEET_RKS2_(%1)"));
  CHECK(contains(body_with_positions(source, "twice"), "key _Z5twiceIN2at6TensorEET_RKS2_"));
  CHECK(source.module.functions.size() == 2);
}

TEST_CASE("an unused default constructor is lowered from the members' initialisers") {
  const std::string code =
      "struct Table { at::Tensor table = torch::ones({8}); at::ScalarType dtype = torch::kFloat; };\n"
      "class Holder { Table held; const at::ScalarType fixed = torch::kHalf; void set(); };\n"
      "struct Plain { int n; };\n"
      "at::Tensor f(const Holder& h, const Plain& p);";
  CHECK(body(code, "Table::Table") ==
        "  %1 = param 0\n"
        "  %2 = const 8\n"
        "  %3 = pack(%2)\n"
        "  %4 = op ones(size=%3)\n"
        "  store %1.table, %4\n"
        "  %5 = const float32\n"
        "  store %1.dtype, %5\n"
        "  return\n");
  CHECK(body(code, "Holder::Holder") ==
        "  %1 = param 0\n"
        "  %2 = object Table()\n"
        "  %3 = call _ZN5TableC2Ev(%2)\n"
        "  store %1.held, %2\n"
        "  %4 = const float16\n"
        "  store %1.fixed, %4\n"
        "  return\n");
  CHECK(lower_snippet(code).module.functions.size() == 2);
}

TEST_CASE("a class lists the members that code other than its constructors may set") {
  const LoweredSource source = lower_snippet(
      "class Holder {\n"
      "  at::ScalarType own = torch::kHalf; const bool fixed = true; at::Tensor absent;\n"
      " public:\n"
      "  bool open = false; at::Tensor given = torch::ones({8});\n"
      "  void set(); void read() const; void inside() { own = torch::kFloat; }\n"
      "};\n"
      "void f(const Holder& holder) {}");
  const std::string text = flow::print(source.module);
  CHECK(contains(text, "  settable own: dtype\n"));
  CHECK(contains(text, "  settable absent: tensor\n"));
  CHECK(contains(text, "  settable open: number \"bool\" &\n"));
  CHECK(!contains(text, "settable fixed"));
  CHECK(contains(text, "  setter _ZN6Holder3setEv\n"));
  CHECK(!contains(text, "setter _ZN6Holder6insideEv"));
  CHECK(!contains(text, "setter _ZNK6Holder4readEv"));
}

TEST_CASE("a class lists what only its methods set, and what virtual calls on it run") {
  const std::string rest =
      "class Base { at::Tensor scale; mutable at::Tensor cache;\n"
      " public: at::Tensor open; virtual void run() = 0; virtual void there() {} static Base* make(); };\n"
      "class Shared { friend class Base; at::Tensor scale_of_shared; };\n";
  const std::string user = "struct Own : Base { void run() override {} };\nvoid f() { Own own; }";
  const std::string local = flow::print(lower_snippet(rest + user).module);
  CHECK(contains(local, "class Base local\n"));
  CHECK(contains(local, "class Own : Base local\n  virtual _ZN3Own3runEv\n"));
  CHECK(contains(local, "  setter _ZN4Base4makeEv\n  virtual _ZN4Base5thereEv\n  owned scale\n"));
  CHECK(contains(local, "  owned open\n"));
}

TEST_CASE("constants outside the function are what they are initialised with") {
  CHECK(body("const auto kWide = torch::kFloat;\n"
             "const auto kOptions = torch::dtype(kWide);\n"
             "at::ScalarType mutable_dtype = torch::kHalf;\n"
             "at::Tensor f(const at::Tensor& x) { return x.to(kOptions).to(kWide).to(mutable_dtype); }",
             "f") ==
        "  %1 = param 0\n"
        "  %2 = const float32\n"
        "  %3 = options(dtype=%2)\n"
        "  %4 = op to(self=%1, dtype=%3)\n"
        "  %5 = const float32\n"
        "  %6 = op to(self=%4, dtype=%5)\n"
        "  %7 = const unknown\n"
        "  %8 = op to(self=%6, dtype=%7)\n"
        "  return %8\n");
}

TEST_CASE("functions tell whether external code may call them") {
  const LoweredSource source = lower_snippet(
      "static void hidden() {}\n"
      "namespace { void unnamed() {} }\n"
      "void open() { hidden(); unnamed(); }\n"
      "int main() { open(); }");
  CHECK(
      contains(body_with_positions(source, "hidden"), "function hidden key _ZL6hiddenv@code.cpp internal") ==
      false);  // the key is quoted, because of its '@'
  CHECK(contains(body_with_positions(source, "hidden"), "\"_ZL6hiddenv@code.cpp\" internal"));
  CHECK(contains(body_with_positions(source, "unnamed"), " internal"));
  CHECK_FALSE(contains(body_with_positions(source, "open"), " internal"));
  CHECK(contains(body_with_positions(source, "main"), "function main main"));
}

TEST_CASE("a call that has a contract is a sink with roles; descriptors are handles and plain objects") {
  CHECK(body("void f(const at::Tensor& x, float* const data) {\n"
             "  DLManagedTensor* managed = at::toDLPack(x);\n"
             "  DLTensor table{};\n"
             "  table.data = data;\n"
             "  table.dtype = DLDataType{2, 32, 1};\n"
             "  flash_ref_rotary(&managed->dl_tensor, &table, &table, nullptr, nullptr);\n"
             "}",
             "f") ==
        "  %1 = param 0\n"
        "  %2 = param 1\n"
        "  %3 = op toDLPack(self=%1)\n"
        "  store managed, %3\n"
        "  %4 = object DLTensor()\n"
        "  %5 = const unknown\n"
        "  store %4.dtype, %5\n"
        "  store table, %4\n"
        "  store table.data, %2\n"
        "  %6 = const float32\n"
        "  store table.dtype, %6\n"
        "  %7 = load managed\n"
        "  %8 = load %7.dl_tensor\n"
        "  %9 = load table\n"
        "  %10 = load table\n"
        "  %11 = const none\n"
        "  %12 = sink flash_ref_rotary(x=%8, cos=%9, sin=%10, out=%11)\n"
        "  return\n");
}

TEST_CASE("a call of a function that has a contract and a body in the file is watched and followed") {
  const std::string watched = body(
      "extern \"C\" int flash_ref_rotary(const DLTensor* x, const DLTensor* cos, const DLTensor* sin,\n"
      "                                DLTensor* out, const void*) { return 0; }\n"
      "int f(DLTensor* t) { return flash_ref_rotary(t, t, t, t, nullptr); }",
      "f");
  INFO(watched);
  CHECK(contains(watched, "  sink flash_ref_rotary(%2, %3, %4, %5, %6)\n  %7 = call flash_ref_rotary("));
  // Its parameters are called after the operands, and can be what these are; else it is another function.
  for (const char* other : {"const DLTensor*, const DLTensor*, const DLTensor*, DLTensor*, const void*",
                            "const DLTensor* q, const DLTensor* k, const DLTensor* v, DLTensor* out, void*",
                            "const DLTensor* x, double cos, double sin, DLTensor* out, const void*"}) {
    INFO(other);
    const std::string text =
        body("int flash_ref_rotary(" + std::string(other) +
                 ", int) { return 0; }\nint f(DLTensor* t) { return flash_ref_rotary(t, {}, "
                 "{}, t, nullptr, 0); }",
             "f");
    INFO(text);
    CHECK(contains(text, "call _Z16flash_ref_rotary"));
    CHECK_FALSE(contains(text, "sink"));
  }
}

TEST_CASE("code in another file is called by its key; code that failed to parse is an error, not silence") {
  CHECK(contains(body("struct Far { at::Tensor run(at::Tensor); };\n"
                      "at::Tensor f(Far& far, const at::Tensor& x) { return far.run(x); }",
                      "f"),
                 "call _ZN3Far3runEN2at6TensorE("));
  const LoweredSource broken = lower_snippet("int f() { return missing; }\nint g() { return 1; }");
  REQUIRE(broken.errors.size() == 1);
  CHECK(broken.errors[0].file == "code.cpp");
  CHECK(broken.errors[0].line == 1);
  CHECK(contains(broken.errors[0].message, "missing"));
}

}  // namespace
}  // namespace dtype_guard::clang_front_end
