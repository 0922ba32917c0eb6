// Tensor expressions: operators, conversions, factories, containers.
#include "tests/catch.h"
#include "tests/unit/clang/snippet.h"

namespace dtype_guard::clang_front_end {
namespace {

TEST_CASE("operators of tensors are ATen operators; the overload tells a number from a tensor") {
  CHECK(body("at::Tensor f(const at::Tensor& q, const at::Tensor& k) { return q * k + q * 2.0; }", "f") ==
        "  %1 = param 0\n"
        "  %2 = param 1\n"
        "  %3 = op mul(self=%1, other=%2)\n"
        "  %4 = const 2.0\n"
        "  %5 = op mul(self=%1, other=%4)\n"
        "  %6 = op add(self=%3, other=%5)\n"
        "  return %6\n");
}

TEST_CASE("a number that is not constant keeps its C++ category when it becomes a Scalar") {
  CHECK(body("at::Tensor f(const at::Tensor& q, const double s) { return q * s; }", "f") ==
        "  %1 = param 0\n"
        "  %2 = param 1\n"
        "  %3 = const float64\n"
        "  %4 = alloc number(dtype=%3)\n"
        "  %5 = load %4[*]\n"
        "  %6 = op mul(self=%1, other=%5)\n"
        "  return %6\n");
}

TEST_CASE("every overload of to() states its dtype in one argument") {
  const std::string text = body(
      "at::Tensor f(const at::Tensor& q, const at::Tensor& k) {\n"
      "  return k.to(at::kHalf).to(q.scalar_type()).to(q.options()).to(q).type_as(q);\n"
      "}",
      "f");
  CHECK(text ==
        "  %1 = param 0\n"
        "  %2 = param 1\n"
        "  %3 = const float16\n"
        "  %4 = op to(self=%2, dtype=%3)\n"
        "  %5 = dtype_of %1\n"
        "  %6 = op to(self=%4, dtype=%5)\n"
        "  %7 = dtype_of %1\n"
        "  %8 = options(dtype=%7)\n"
        "  %9 = op to(self=%6, dtype=%8)\n"
        "  %10 = dtype_of %1\n"
        "  %11 = op to(self=%9, dtype=%10)\n"
        "  %12 = op type_as(self=%11, other=%1)\n"
        "  return %12\n");
}

TEST_CASE("rebinding a handle, writing into a tensor and working in place are three things") {
  CHECK(body("void f(at::Tensor& out, const at::Tensor& k) { out *= k; out.mul_(k); out = k; out[0] = k; }",
             "f") ==
        "  %1 = param 0\n"
        "  %2 = param 1\n"
        "  %3 = load %1\n"
        "  %4 = op mul_(self=%3, other=%2)\n"
        "  %5 = load %1\n"
        "  %6 = op mul_(self=%5, other=%2)\n"
        "  store %1, %2\n"
        "  %7 = load %1\n"
        "  %8 = const 0\n"
        "  %9 = op select(self=%7, index=%8)\n"
        "  write %9, %2\n"
        "  return\n");
}

TEST_CASE("options chains keep the dtype, whatever else they say") {
  CHECK(
      body("at::Tensor f() { return torch::zeros({2, 3}, torch::dtype(torch::kHalf).device(torch::kCUDA)); }",
           "f") ==
      "  %1 = const 2\n"
      "  %2 = const 3\n"
      "  %3 = pack(%1, %2)\n"
      "  %4 = const float16\n"
      "  %5 = options(dtype=%4)\n"
      "  %6 = op zeros(size=%3, dtype=%5)\n"
      "  return %6\n");
}

TEST_CASE("options of torch::nn::functional matter only as far as they name a dtype") {
  CHECK(body("namespace F = torch::nn::functional;\n"
             "at::Tensor f(const at::Tensor& q) {\n"
             "  return F::softmax(F::normalize(q), F::SoftmaxFuncOptions(-1).dtype(torch::kFloat));\n"
             "}",
             "f") ==
        "  %1 = param 0\n"
        "  %2 = op normalize(input=%1)\n"
        "  %3 = const float32\n"
        "  %4 = op softmax(self=%2, dtype=%3)\n"
        "  return %4\n");
}

TEST_CASE("lists, tuples and structured bindings are cells") {
  CHECK(body("at::Tensor f(const at::Tensor& a) {\n"
             "  auto parts = a.unbind(0);\n"
             "  auto [value, index] = a.max(0);\n"
             "  return at::cat({parts[1], value, std::get<1>(a.max(1))}, -1);\n"
             "}",
             "f") ==
        "  %1 = param 0\n"
        "  %2 = const 0\n"
        "  %3 = op unbind(self=%1, dim=%2)\n"
        "  store parts, %3\n"
        "  %4 = const 0\n"
        "  %5 = op max(self=%1, dim=%4)\n"
        "  %6 = op \"max.1\"(self=%1, dim=%4)\n"
        "  %7 = pack(%5, %6)\n"
        "  store \"[value, index]\", %7\n"
        "  %8 = load parts[1]\n"
        "  %9 = load \"[value, index]\"[0]\n"
        "  %10 = const 1\n"
        "  %11 = op max(self=%1, dim=%10)\n"
        "  %12 = op \"max.1\"(self=%1, dim=%10)\n"
        "  %13 = pack(%11, %12)\n"
        "  %14 = load %13[1]\n"
        "  %15 = pack(%8, %9, %14)\n"
        "  %16 = const -1\n"
        "  %17 = op cat(tensors=%15, dim=%16)\n"
        "  return %17\n");
}

TEST_CASE("an operator that no table has keeps its name") {
  CHECK(body("at::Tensor f(const at::Tensor& a) { return at::custom_thing(a); }", "f") ==
        "  %1 = param 0\n"
        "  %2 = op at::custom_thing(self=%1)\n"
        "  return %2\n");
}

TEST_CASE("an undefined tensor and an absent optional are none") {
  CHECK(body("int g(std::optional<at::Tensor> mask, const at::Tensor& x);\n"
             "int f() { return g(std::nullopt, at::Tensor()); }",
             "f") ==
        "  %1 = const none\n"
        "  %2 = const none\n"
        "  %3 = call _Z1gSt8optionalIN2at6TensorEERKS1_(%1, %2)\n"
        "  return %3\n");
}

TEST_CASE("positions are the whole expression as written, at the expansion of a macro") {
  const LoweredSource source = lower_snippet(
      "#define WIDE(t) t.to(at::kFloat)\n"
      "at::Tensor f(const at::Tensor& q) {\n"
      "  return WIDE(q) *\n"
      "         q;\n"
      "}");
  const std::string text = body_with_positions(source, "f");
  INFO(text);
  CHECK(contains(text, "op to(self=%1, dtype=%2) ; 3:10-3:17 macro \"WIDE(q)\""));
  CHECK(contains(text, "op mul(self=%3, other=%1) ; 3:10-4:11 macro \"WIDE(q) * q\""));
}

TEST_CASE("what a reference or pointer needs as it is cannot be cast where it stands") {
  const auto castable = [](const std::string& statement) {
    const LoweredSource source = lower_snippet(
        "void change(at::Tensor& t); void look(const at::Tensor& t); void keep(at::Tensor t);\n"
        "template <class T> void bind(T& t);\n"
        "void mha_fwd(at::Tensor& q, const at::Tensor& k, const at::Tensor& v);\n"
        "void f(at::Tensor qq, bool b) {\n  at::Tensor k;\n  " +
        statement + "\n}");
    const std::string text = body_with_positions(source, "f");
    INFO(text);
    const std::size_t load = text.find("= load qq ; ");
    return load != std::string::npos &&
           contains(text.substr(load, text.find('\n', load) - load), " tensor \"qq\"");
  };
  for (const char* needed : {"change(qq);", "bind(qq);", "(change)((qq));", "auto* p = &change; p(qq);",
                             "change(b ? qq : k);", "at::Tensor& r = qq; keep(r);", "mha_fwd(qq, k, k);"}) {
    INFO(needed);
    CHECK_FALSE(castable(needed));
  }
  for (const char* read : {"look(qq);", "keep(qq);", "std::vector<at::Tensor> l; l.emplace_back(qq);",
                           "look(b ? qq : k);", "const at::Tensor& r = qq; keep(r);", "mha_fwd(k, qq, k);"}) {
    INFO(read);
    CHECK(castable(read));
  }
}

TEST_CASE("a statement that is only a cast of a tensor is marked as dropped") {
  const auto marks = [](const std::string& statement) {
    return contains(body("#define EXPECT_THROWS(x) x\nvoid f(at::Tensor q, torch::nn::LinearImpl& m) { " +
                             statement + " }",
                         "f"),
                    "  discard %");
  };
  CHECK(marks("q.to(at::kHalf);"));
  CHECK(marks("q.type_as(q);"));
  CHECK_FALSE(marks("(void)q.to(at::kHalf);"));
  CHECK_FALSE(marks("EXPECT_THROWS(q.to(at::kHalf));"));
  CHECK_FALSE(marks("m.to(at::kHalf);"));
  CHECK_FALSE(marks("q.mul(q);"));
  CHECK_FALSE(marks("at::Tensor k = q.to(at::kHalf);"));
}

TEST_CASE("a pointer says what it points to, where the code does") {
  CHECK(contains(body("void f(at::Tensor q) { float* p = q.data_ptr<float>(); }", "f"),
                 "  %3 = const float32\n  %4 = op data_ptr(self=%2, dtype=%3)\n"));
  CHECK(contains(
      body("void f(at::Tensor q) { auto* p = static_cast<at::Half*>(q.data_ptr()); }", "f"),
      "  %3 = op data_ptr(self=%2)\n  %4 = const float16\n  %5 = op pointer_cast(self=%3, dtype=%4)\n"));
}

TEST_CASE("std::array's braces are one list") {
  CHECK(contains(body("void f(at::Tensor q, at::Tensor k) { std::array<at::Tensor, 2> a{q, k}; }", "f"),
                 "  %5 = pack(%3, %4)\n  store a, %5\n"));
}

TEST_CASE("a tensor parameter with a default may be absent") {
  const LoweredSource source = lower_snippet("void f(const at::Tensor& x, const at::Tensor& mask = {}) {}");
  CHECK(contains(body_with_positions(source, "f"), "parameter x: tensor\n"));
  CHECK(contains(body_with_positions(source, "f"), "parameter mask: optional_tensor\n"));
}

TEST_CASE("the buffer of a nested tensor has its dtype") {
  const std::string code =
      "namespace at::native { struct NestedTensorImpl { at::Tensor get_unsafe_storage_as_tensor() const; };\n"
      "NestedTensorImpl* get_nested_tensor_impl(const at::Tensor& tensor); }\n"
      "at::Tensor f(const at::Tensor& x) { return "
      "at::native::get_nested_tensor_impl(x)->get_unsafe_storage_as_tensor(); }";
  const std::string text = body(code, "f");
  INFO(text);
  CHECK(contains(text, "op flatten(self=%1)"));
}

}  // namespace
}  // namespace dtype_guard::clang_front_end
