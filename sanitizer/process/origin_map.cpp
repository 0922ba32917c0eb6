#include "sanitizer/process/origin_map.h"

namespace dtype_guard::san {

bool find_origin(Origins& origins, const DLTensor& tensor, Origin& origin) {
  using namespace origin_map;
  Entry entry;
  OriginCell* cell = look_up(origins, address_of(tensor));
  if (cell == nullptr || !read(*cell, address_of(tensor), entry)) return false;
  Range range = checked_range(tensor);
  if (range.bytes == 0) return false;
  Proof proof = prove(entry, range, fetch_checked);
  if (proof == Proof::kBroken) drop(entry);
  if (proof != Proof::kHolds) return false;
  origin = {packed_from_word(entry.dtype()), entry.chain};
  return true;
}

}  // namespace dtype_guard::san
