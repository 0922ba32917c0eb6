#include "analyzer/flow/state/as_made.h"

#include <algorithm>
#include <utility>

namespace dtype_guard::flow {
namespace {
// Of a tensor that is converted on some paths: what it holds on the others.
constexpr Key kAsMade{Key::Kind::kNext, 1};

const Value& cell(const HeapObject& tensor, const Key& key) {
  static const Value nothing;
  const auto found = tensor.cells.find(key);
  return found == tensor.cells.end() ? nothing : found->second;
}
}  // namespace

void set_as_made(HeapObject& tensor, Value held) { tensor.cells[kAsMade] = std::move(held); }

void forget_as_made(HeapObject& tensor) { tensor.cells.erase(kAsMade); }

void join_as_made(HeapObject& into, const std::vector<HeapPointer>& ways, SymbolSets& symbols) {
  const auto is_stated = [](const HeapPointer& each) { return each->stated; };
  const bool all = std::all_of(ways.begin(), ways.end(), is_stated);
  if (all || std::none_of(ways.begin(), ways.end(), is_stated)) return;
  Value out;
  for (const HeapPointer& each : ways)
    out = join(out, cell(*each, each->stated ? kAsMade : HeapObject::kContents), symbols);
  into.cells[kAsMade] = out;
}

bool may_be_unconverted(const HeapObject& tensor) {
  const Value& held = cell(tensor, HeapObject::kContents);
  return std::any_of(held.begin(), held.end(),
                     [&](const Alternative& each) { return is_unconverted(tensor, each); });
}

bool is_made_half(const HeapObject& tensor) {
  if (tensor.left_half) return true;
  const Value& held = cell(tensor, HeapObject::kContents);
  // Of two half types the code may leave open which it is.
  const bool is_one_of_several = held.size() > 1;
  return !held.is_bottom() && tensor.stated &&
         std::all_of(held.begin(), held.end(), [&](const Alternative& each) {
           return is_half(each.dtype) && !each.assumed && (is_one_of_several || !each.uncertain);
         });
}

bool is_left_half(const std::vector<HeapPointer>& ways) {
  return std::any_of(ways.begin(), ways.end(), [](const HeapPointer& each) { return each->left_half; }) &&
         std::all_of(ways.begin(), ways.end(), [](const HeapPointer& each) { return is_made_half(*each); });
}

// What was converted to some dtype has that conversion as its origin. Of what is not known, or was put
// together of more places than are kept apart, it may be either.
bool is_unconverted(const HeapObject& tensor, const Alternative& held) {
  if (!tensor.stated) return true;
  const Value& made = cell(tensor, kAsMade);
  const bool is_told_apart =
      held.kind == Alternative::Kind::kTensor && held.dtype != Dtype::kUndefined && !held.merged;
  return is_told_apart && std::any_of(made.begin(), made.end(), [&](const Alternative& each) {
           return same_place_in_order(each, held);
         });
}

}  // namespace dtype_guard::flow
