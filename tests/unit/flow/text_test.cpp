// The IR's text: what is printed reads back as the same IR, and what is not IR is refused with line and
// expectation.
#include "analyzer/flow/ir/text.h"

#include <limits>
#include <string>

#include "tests/catch.h"

namespace dtype_guard::flow {
namespace {

const char* const kExample = R"IR(file "var.cpp"
file "with space.h"
not_lowered "odd" "inline assembly" ; var.cpp:3:1-3:5
class Base
class Inputs : Base, "odd class"
  field mask: optional_tensor
  field inner: object "Base"
class Own : Base local
  setter own_set
  virtual own_run
  owned scale
  placeholder cache

method Attention::forward key _ZN9Attention7forwardEv of Attention internal ; var.cpp:12:14-12:21
  parameter x: tensor
  parameter p: tensor "float16"
  parameter config: object "Config" &
  parameter dtype: dtype
  variables q, "a b", q
b0:
  %1 = param 0
  %2 = param 1 ; 12:30-12:31 "x"
  %3 = const -1
  %4 = const 2.0
  %5 = const "a \"quoted\" text\x0a"
  %6 = const true
  %7 = const none
  %8 = const unknown
  %9 = const bfloat16
  %10 = op normalize(%2, dim=%3) ; 14:12-14:33 "F::normalize(x)"
  %11 = op torch::nn::functional::silu(%10) ; "with space.h":7:1-7:3
  store q, %10
  store q#2, %11
  store "a b".field[0].weight[*], %11
  store q[+], %11
  %12 = load %1.mat_qkv."odd field"[-2]
  %13 = dtype_of %12
  %14 = options(dtype=%13)
  %15 = implicit cast %12, %14 ; "x"
  %16 = alloc "std::vector<float>"(dtype=%9)
  %17 = object Holder()
  %18 = module torch::nn::Linear(%3, %3)
  %19 = pack(%10, %11)
  %20 = closure "lambda#1"(x=%2)
  %21 = register parameter "scale_mul", %17, %12
  retype %18, %9
  %22 = call ""(%20, %2)
  write %16, %12
  %23 = address q
  set_autocast cuda(on=%6, dtype=%9)
  set_default_dtype %9
  %24 = save_state
  restore_state %24
  assume %6
  %25 = sink flash_ref_attention_fwd(q=%10, k=%11)
  branch %6 ? b1 : b2
b1:
  %26 = phi %10, %11
  jump b2
b2:
  return %25 ; 20:3-20:9

function main main
b0:
  return
)IR";

TEST_CASE("printed IR reads back as itself") { CHECK(print(parse(kExample)) == kExample); }

TEST_CASE("parsing keeps what the text says") {
  const Module module = parse(kExample);
  REQUIRE(module.functions.size() == 2);
  const Function& forward = module.functions[0];
  CHECK(forward.key == "_ZN9Attention7forwardEv");
  CHECK(forward.class_name == "Attention");
  CHECK(forward.kind == FunctionKind::kMethod);
  CHECK_FALSE(forward.external);
  CHECK(forward.parameters[1].type == "float16");
  CHECK(forward.parameters[2].by_reference);
  const auto& body = forward.blocks[0].instructions;
  CHECK(body[1].range.file == 0);
  CHECK(body[1].range.end_column == 31);
  CHECK(body[1].text == "x");
  CHECK(body[4].constant == Constant("a \"quoted\" text\n"));
  CHECK(body[3].constant == Constant(2.0));
  CHECK(body[8].constant == Constant(Dtype::kBFloat16));
  CHECK(body[10].range.file == 1);
  CHECK(body[12].place.variable == 2);
  CHECK(module.functions[1].is_main);
}

TEST_CASE("numbers keep their category and value") {
  Module module;
  Function& function = module.functions.emplace_back();
  function.key = function.name = "f";
  Block& block = function.blocks.emplace_back();
  for (const Constant& each :
       {Constant(0.1), Constant(1e300), Constant(-0.0), Constant(3.0),
        Constant(std::numeric_limits<double>::infinity()), Constant(-std::numeric_limits<double>::infinity()),
        Constant(std::numeric_limits<std::int64_t>::min())}) {
    Instruction constant;
    constant.op = Op::kConst;
    constant.result = static_cast<ValueId>(block.instructions.size() + 1);
    constant.constant = each;
    block.instructions.push_back(constant);
  }
  const Module again = parse(print(module));
  REQUIRE(again.functions.at(0).blocks.at(0).instructions.size() == block.instructions.size());
  for (std::size_t i = 0; i < block.instructions.size(); ++i) {
    CHECK(again.functions[0].blocks[0].instructions[i].constant == block.instructions[i].constant);
  }
}

void check_refused(const std::string& text, const std::string& message) {
  INFO(text);
  try {
    parse(text);
    FAIL("accepted");
  } catch (const TextError& error) {
    CHECK(std::string(error.what()) == message);
  }
}

TEST_CASE("text that is not IR is refused with line and expectation") {
  const std::string head = "function f\n  variables x\nb0:\n";
  check_refused("hello",
                "line 1: found 'hello', expected 'file', 'not_lowered', 'overridden', 'class' or a function");
  check_refused(head + "  frob %1\n", "line 4: found 'frob', expected an instruction or 'b1:'");
  check_refused(head + "  %1 = const 1\n  retype %1\n", "line 5: 'retype' has 1 of 2 values");
  check_refused(head + "  %1 = frob\n", "line 4: found 'frob', expected an instruction");
  check_refused(head + "  return %7\n", "line 4: %7 is used but never defined");
  check_refused(head + "  jump b3\n", "line 4: b3 is not a block of this function");
  check_refused(head + "  %1 = load y\n", "line 4: 'y' is not among the variables");
  check_refused(
      head + "  %1 = const float17\n",
      "line 4: found 'float17', expected a constant: a number, a string, true, false, none, unknown or a "
      "dtype");
  check_refused(head + "  %1 = const 1\n  %1 = const 2\n", "line 5: %1 is defined twice, or is %0");
  check_refused(head + "  return ; other.cpp:1:1-1:2\n",
                "line 4: 'other.cpp' is not among the files declared above");
  check_refused(head + "  %1 = const \"abc\n", "line 4: found a string without its closing quote");
  check_refused(head + "  %1 = op add(\n",
                "line 4: found the end of the line, expected a value or NAME=%value");
  check_refused(
      "function f\n  parameter x: tensr\n",
      "line 2: found 'tensr', expected one of tensor, optional_tensor, tensor_list, dtype, options, number, "
      "object, other");
}

}  // namespace
}  // namespace dtype_guard::flow
