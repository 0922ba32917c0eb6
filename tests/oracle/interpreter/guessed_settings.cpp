// What is assumed of a setting that the user did not name: it is not tried where the code contradicts it.
#include <algorithm>

#include "tests/oracle/interpreter/machine.h"

namespace dtype_guard::oracle {
namespace {
using Kind = Value::Kind;
constexpr int kMostNested = 4;
constexpr const char* kHalfUnderAutocast =
    "a module that the code makes half runs under an autocast that is only guessed";
constexpr const char* kHalfBuffers =
    "the code makes its own object half, of which a setting that is only guessed leaves buffers in float32";
}  // namespace

// Whether the code itself made one of its parameters half.
bool Machine::is_made_half(const Value& object, int depth) const {
  if (!object.is(Kind::kObject) || depth > kMostNested) return false;
  const auto& all = objects_[object.id].registered;
  return std::any_of(all.begin(), all.end(), [&](const Object::Registered& each) {
    if (!each.value.is(Kind::kTensor)) return is_made_half(each.value, depth + 1);
    const Tensor& tensor = tensors_[each.value.id];
    return each.kind == "parameter" && tensor.is_stated && is_half(tensor.dtype);
  });
}

// Registered with it, or held by a field.
bool Machine::is_below(const Value& object, const Value& target, int depth) const {
  if (!object.is(Kind::kObject) || !target.is(Kind::kObject) || depth > kMostNested) return false;
  const Object& whole = objects_[object.id];
  return object.id == target.id ||
         std::any_of(whole.registered.begin(), whole.registered.end(),
                     [&](const auto& each) { return is_below(each.value, target, depth + 1); }) ||
         std::any_of(whole.cells.begin(), whole.cells.end(),
                     [&](const auto& each) { return is_below(each.value, target, depth + 1); });
}

void Machine::guess_object(const Value& object) {
  own_object_ = object;
  const bool is_guess = !world_.is_named && world_.autocast != Dtype::kUndefined;
  if (is_guess && is_made_half(object)) violated_ = kHalfUnderAutocast;
}

// What the root makes half it had made half before: it is not run twice in one way and once in another. That
// holds of a run that is not as assumed for something else as well.
void Machine::guess_conversion(const Value& target, Dtype dtype) {
  const Value converted = behind(target);
  if (world_.is_named || !is_half(dtype) || !converted.is(Kind::kObject)) return;
  has_half_module_ = true;
  if (depth_ == 0 || !is_below(own_object_, converted)) return;
  const bool has_half_buffers = is_half(world_.parameters) && world_.buffers != world_.parameters;
  if (!has_half_buffers && world_.autocast == Dtype::kUndefined) return;
  if (violated_.empty()) violated_ = has_half_buffers ? kHalfBuffers : kHalfUnderAutocast;
  run_.makes_own_half = true;
}

void Machine::guess_call() {
  const bool is_of_setting = autocast_.front().second.is_of_setting;
  if (violated_.empty() && !world_.is_named && has_half_module_ && is_of_setting)
    violated_ = kHalfUnderAutocast;
}

}  // namespace dtype_guard::oracle
