#include "sanitizer/sources/torch/bound_operators.h"

#include <string.h>

#include <atomic>

#include "sanitizer/contracts/own_contracts.h"
#include "sanitizer/journal/journal_writer.h"
#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/platform/rebind.h"
#include "sanitizer/runtime/watching.h"
#include "sanitizer/sources/torch/calls.h"
#include "sanitizer/sources/torch/library.h"
#include "sanitizer/sources/torch/operator_thunks.h"
#include "sanitizer/sources/torch/origin_windows.h"
#include "sanitizer/sources/torch/told_count.h"

namespace dtype_guard::san::torch {
namespace {

struct Bound {
  const RecordRow* row = nullptr;
  void* function = nullptr;   // libtorch's own
  std::size_t words = 0;      // leading arguments that are tensors or integers
  std::uint32_t tensors = 0;  // a bit for each of them that is a tensor
  bool has_optional = false;  // an std::optional<at::Tensor> follows them
  std::uint32_t slots = 0;
  std::atomic<std::uint64_t> entered{0};
  ToldCount untold;
};
constinit Bound bound[kOperatorThunks];
constinit std::size_t bound_count = 0;

constexpr char kOperators[] = "_ZN2at4_ops";
constexpr char kNamespace[] = "aten::";

bool starts_with(const char* text, const char* prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

// What comes behind the operator's name in "_ZN2at4_ops4NAME4callE...", where it is that operator's.
const char* arguments_of(const char* symbol, const char* name) {
  if (!starts_with(symbol, kOperators)) return nullptr;
  const char* at = symbol + sizeof kOperators - 1;
  std::size_t length = 0;
  for (; *at >= '0' && *at <= '9'; ++at) length = length * 10 + static_cast<std::size_t>(*at - '0');
  constexpr char kCall[] = "4callE";
  if (strlen(name) != length || strncmp(at, name, length) != 0 || !starts_with(at + length, kCall))
    return nullptr;
  return at + length + sizeof kCall - 1;
}

// const at::Tensor& is RKNS_6TensorE, then S4_ or, behind another substitution, again that; an integer is l.
void read_arguments(const char* mangled, Bound& to) {
  constexpr char kTensor[] = "RKNS_6TensorE", kAgain[] = "S4_", kOptional[] = "RKSt8optionalIS2_E";
  constexpr std::size_t kMost = 32;
  if (!starts_with(mangled, kTensor)) return;
  mangled += sizeof kTensor - 1;
  to.tensors = 1;
  for (to.words = 1; to.words < kMost; ++to.words) {
    const bool is_again = starts_with(mangled, kAgain);
    if (!is_again && *mangled != 'l') break;
    if (is_again) to.tensors |= 1U << to.words;
    mangled += is_again ? sizeof kAgain - 1 : 1;
  }
  to.has_optional = starts_with(mangled, kOptional);
}

bool can_read(const Bound& one, int argument) {
  const auto position = static_cast<std::size_t>(argument);
  if (argument < 0 || position > one.words) return false;
  return position == one.words ? one.has_optional : (one.tensors >> position & 1U) != 0;
}

// Each operand that must be there can be read.
bool is_of_use(const Bound& one) {
  const ApiContract& contract = contract_of(one.row->api);
  for (std::size_t i = 0; i < contract.operand_count; ++i)
    if (!contract.operands[i].optional && one.row->arguments[i] >= 0 && !can_read(one, one.row->arguments[i]))
      return false;
  return one.words != 0;
}

bool has_unread_operand(const Bound& one) {
  const ApiContract& contract = contract_of(one.row->api);
  for (std::size_t i = 0; i < contract.operand_count; ++i)
    if (one.row->arguments[i] >= 0 && !can_read(one, one.row->arguments[i])) return true;
  return false;
}

bool is_backward(const RecordRow& row) { return strstr(row.name, "_backward") != nullptr; }

// Libtorch's own parts call operators inside others; those in libtorch_python are the program's calls.
bool is_libtorch(const LoadedObject& object) {
  constexpr char kName[] = "libtorch_", kPython[] = "libtorch_python";
  const char* base = strrchr(object.path, '/');
  base = base != nullptr ? base + 1 : object.path;
  return starts_with(base, kName) && !starts_with(base, kPython);
}

const RecordRow* row_of(const char* symbol, const char*& arguments) {
  for (std::size_t i = 0; i < own_record_count + kRecordCount; ++i) {
    const RecordRow& row = record_row(i);
    if (row.is_operator || row.only_if_raised || !starts_with(row.name, kNamespace)) continue;
    arguments = arguments_of(symbol, row.name + sizeof kNamespace - 1);
    if (arguments != nullptr) return &row;
  }
  return nullptr;
}

// The number of the thunk for this symbol; kOperatorThunks where there is none.
std::size_t thunk_for(const char* symbol, const LoadedObject& library) {
  const char* arguments = nullptr;
  const RecordRow* row = starts_with(symbol, kOperators) ? row_of(symbol, arguments) : nullptr;
  if (row == nullptr) return kOperatorThunks;
  for (std::size_t i = 0; i < bound_count; ++i)
    if (bound[i].row == row) return i;
  Bound& fresh = bound[bound_count];
  if (bound_count == kOperatorThunks) return kOperatorThunks;
  fresh.row = row;
  fresh.function = library.find_function(symbol);
  read_arguments(arguments, fresh);
  return fresh.function != nullptr && is_of_use(fresh) ? bound_count++ : kOperatorThunks;
}

void lead_slots(const LoadedObject& object, const LoadedObject& library) {
  const bool is_own = is_libtorch(object);
  object.each_binding([&](const Binding& binding) {
    if (!binding.is_call) return;
    const std::size_t number = thunk_for(binding.symbol, library);
    if (number == kOperatorThunks || (is_own && !is_backward(*bound[number].row))) return;
    if (rebind(object, binding.place, reinterpret_cast<std::uintptr_t>(operator_thunk(number))))
      ++bound[number].slots;
  });
}

const TensorImpl* tensor_at(const Bound& one, const ArgumentWords& words, std::size_t position) {
  struct Optional {
    const TensorImpl* impl;
    bool has_value;
  };
  const auto* place = reinterpret_cast<const void*>(words.reference(position));
  if (position < one.words) return static_cast<const Tensor*>(place)->impl;
  const auto* optional = static_cast<const Optional*>(place);
  return optional->has_value ? optional->impl : nullptr;
}

}  // namespace

bool lead_operators_here(TextSink& reason) {
  LoadedObject library;
  if (find_object(kAddGlobalCallback, library))
    each_loaded_object([&](const LoadedObject& object) {
      if (!object.is_sanitizer()) lead_slots(object, library);
      return true;
    });
  const bool is_led = bound_operators().slots != 0;
  if (!is_led)
    reason << "no object calls an attention operator of PyTorch's through a jump slot (torch=contracts sees "
              "them all)";
  return is_led;
}

BoundOperators bound_operators() {
  BoundOperators all;
  for (std::size_t i = 0; i < bound_count; ++i) {
    all.operators += bound[i].slots != 0 ? 1 : 0;
    all.slots += bound[i].slots;
    all.entered += bound[i].entered.load(std::memory_order_relaxed);
    all.has_unread = all.has_unread || (bound[i].slots != 0 && has_unread_operand(bound[i]));
  }
  return all;
}

void write_untold(Process& process, Scratch& scratch) {
  for (std::size_t i = 0; i < bound_count; ++i) {
    const std::uint64_t calls = bound[i].untold.take_untold();
    if (calls == 0) continue;
    TextBuffer<256> text;
    text << "torch=calls: " << calls << (calls == 1 ? " call" : " calls") << " of "
         << contract_of(bound[i].row->api).name
         << " under autocast had operands that differ in dtype: whether they are cast inside is not seen "
            "without records";
    write_note(process, scratch, text.view());
  }
}

void forget_bound_calls() {
  for (std::size_t i = 0; i < bound_count; ++i) {
    bound[i].entered.store(0, std::memory_order_relaxed);
    bound[i].untold.forget();
  }
}

}  // namespace dtype_guard::san::torch

extern "C" void* dtype_san_enter_operator(std::uint32_t number, const std::uintptr_t* registers,
                                          const std::uintptr_t* stack, std::uintptr_t caller) {
  using namespace dtype_guard::san;
  torch::Bound& one = torch::bound[number];
  one.entered.fetch_add(1, std::memory_order_relaxed);
  if (!is_watching() || torch::window_at_call()) return one.function;
  const torch::ArgumentWords words(registers, stack);
  const torch::TensorImpl* tensors[kMaxOperands] = {};
  for (std::size_t i = 0; i < contract_of(one.row->api).operand_count; ++i)
    if (const int argument = one.row->arguments[i]; torch::can_read(one, argument))
      tensors[i] = torch::tensor_at(one, words, static_cast<std::size_t>(argument));
  if (!torch::check_bound_call(one.row->api, tensors, caller)) one.untold.add(1);
  return one.function;
}
