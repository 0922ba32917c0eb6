// nn modules: fields, registration, holders, library modules and conversion.
#include "tests/catch.h"
#include "tests/unit/clang/snippet.h"

namespace dtype_guard::clang_front_end {
namespace {

const char* const kAttention =
    "struct AttentionImpl : torch::nn::Module {\n"
    "  explicit AttentionImpl(int64_t dim) {\n"
    "    qkv = register_module(\"qkv\", torch::nn::Linear(dim, dim));\n"
    "    gain = register_parameter(\"gain\", torch::full({1, 2}, 4.0));\n"
    "    table = register_buffer(\"table\", torch::full({2}, 1.0, torch::kHalf));\n"
    "  }\n"
    "  at::Tensor forward(const at::Tensor& x) { return qkv(x) * gain; }\n"
    "  at::Tensor gain, table;\n"
    "  torch::nn::Linear qkv{nullptr};\n"
    "};\n"
    "TORCH_MODULE(Attention);\n";

TEST_CASE("a constructor fills the fields of this and registers them") {
  CHECK(body(kAttention, "AttentionImpl::AttentionImpl") ==
        "  %1 = param 0\n"
        "  %2 = param 1\n"
        "  store dim, %2\n"
        "  %3 = const none\n"
        "  store %1.gain, %3\n"
        "  %4 = const none\n"
        "  store %1.table, %4\n"
        "  %5 = const none\n"
        "  store %1.qkv, %5\n"
        "  %6 = load dim\n"
        "  %7 = load dim\n"
        "  %8 = module torch::nn::Linear(%6, %7)\n"
        "  %9 = register module \"qkv\", %1, %8\n"
        "  store %1.qkv, %9\n"
        "  %10 = const 1\n"
        "  %11 = const 2\n"
        "  %12 = pack(%10, %11)\n"
        "  %13 = const 4.0\n"
        "  %14 = op full(size=%12, fill_value=%13)\n"
        "  %15 = register parameter \"gain\", %1, %14\n"
        "  store %1.gain, %15\n"
        "  %16 = const 2\n"
        "  %17 = pack(%16)\n"
        "  %18 = const 1.0\n"
        "  %19 = const float16\n"
        "  %20 = options(dtype=%19)\n"
        "  %21 = op full(size=%17, fill_value=%18, dtype=%20)\n"
        "  %22 = register buffer \"table\", %1, %21\n"
        "  store %1.table, %22\n"
        "  return\n");
}

TEST_CASE(
    "a library module's forward takes the module first, through the holder's call operator or its arrow") {
  CHECK(body(kAttention, "AttentionImpl::forward") ==
        "  %1 = param 0\n"
        "  %2 = param 1\n"
        "  %3 = load %1.qkv\n"
        "  %4 = op torch::nn::Linear::forward(%3, %2)\n"
        "  %5 = load %1.gain\n"
        "  %6 = op mul(self=%4, other=%5)\n"
        "  return %6\n");
}

TEST_CASE("holders, shared pointers and what they hold are one object") {
  CHECK(body(std::string(kAttention) + "at::Tensor f(const at::Tensor& x) {\n"
                                       "  Attention holder(8);\n"
                                       "  auto shared = std::make_shared<AttentionImpl>(8);\n"
                                       "  holder->qkv->to(torch::kHalf);\n"
                                       "  return holder(x) + shared->forward(x) + holder->gain;\n"
                                       "}\n",
             "f") ==
        "  %1 = param 0\n"
        "  %2 = object AttentionImpl()\n"
        "  %3 = const 8\n"
        "  %4 = call _ZN13AttentionImplC2El(%2, %3)\n"
        "  store holder, %2\n"
        "  %5 = object AttentionImpl()\n"
        "  %6 = const 8\n"
        "  %7 = call _ZN13AttentionImplC2El(%5, %6)\n"
        "  store shared, %5\n"
        "  %8 = load holder\n"
        "  %9 = load %8.qkv\n"
        "  %10 = const float16\n"
        "  retype %9, %10\n"
        "  %11 = load holder\n"
        "  %12 = call _ZN13AttentionImpl7forwardERKN2at6TensorE(%11, %1)\n"
        "  %13 = load shared\n"
        "  %14 = call _ZN13AttentionImpl7forwardERKN2at6TensorE(%13, %1)\n"
        "  %15 = op add(self=%12, other=%14)\n"
        "  %16 = load holder\n"
        "  %17 = load %16.gain\n"
        "  %18 = op add(self=%15, other=%17)\n"
        "  return %18\n");
}

TEST_CASE("set_data retypes the tensor itself") {
  CHECK(body("void f(const at::Tensor& a, const at::Tensor& b) { a.set_data(b); }", "f") ==
        "  %1 = param 0\n"
        "  %2 = param 1\n"
        "  retype %1, %2\n"
        "  return\n");
}

TEST_CASE("autocast and default dtype are state, per device") {
  CHECK(body("void f() {\n"
             "  at::autocast::set_enabled(true);\n"
             "  at::autocast::set_autocast_gpu_dtype(at::kBFloat16);\n"
             "  at::autocast::set_autocast_enabled(at::kCPU, false);\n"
             "  at::autocast::set_autocast_dtype(at::kCUDA, at::kHalf);\n"
             "  c10::set_default_dtype(at::kHalf);\n"
             "}",
             "f") ==
        "  %1 = const true\n"
        "  set_autocast cuda(on=%1)\n"
        "  %2 = const bfloat16\n"
        "  set_autocast cuda(dtype=%2)\n"
        "  %3 = const false\n"
        "  set_autocast cpu(on=%3)\n"
        "  %4 = const float16\n"
        "  set_autocast cuda(dtype=%4)\n"
        "  %5 = const float16\n"
        "  set_default_dtype %5\n"
        "  return\n");
}

TEST_CASE("ExcludeDispatchKeyGuard is off until the end of its scope") {
  CHECK(body("void f(const at::Tensor& x) {\n"
             "  { c10::impl::ExcludeDispatchKeyGuard off(c10::DispatchKey::AutocastCUDA); "
             "at::custom_thing(x); }\n"
             "  at::custom_thing(x);\n"
             "}",
             "f") ==
        "  %1 = param 0\n"
        "  %2 = save_state\n"
        "  %3 = const false\n"
        "  set_autocast cuda(on=%3)\n"
        "  %4 = object c10::impl::ExcludeDispatchKeyGuard()\n"
        "  store off, %4\n"
        "  %5 = op at::custom_thing(self=%1)\n"
        "  restore_state %2\n"
        "  %6 = op at::custom_thing(self=%1)\n"
        "  return\n");
}

}  // namespace
}  // namespace dtype_guard::clang_front_end
