#include "analyzer/flow/engine/conditions/device_tests.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "rules/operators/library_names.h"

namespace dtype_guard::flow {

namespace {
using Kind = Alternative::Kind;
bool is_open(const Value& value) {
  return std::any_of(value.begin(), value.end(), [](const Alternative& each) {
    return each.kind == Kind::kUnknown || each.kind == Kind::kTop ||
           (each.kind == Kind::kString && !each.has_number);
  });
}
}  // namespace

bool names_another_device(const Value& a, const Value& b, std::string_view device) {
  for (const auto& [asked, told] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    const Alternative* text = told->single();
    if (!text || text->kind != Kind::kString || !text->has_number || !is_open(*asked)) continue;
    return std::any_of(std::begin(kLibraryNames), std::end(kLibraryNames), [&](const LibraryName& row) {
      return row.as == Named::kAccelerator && row.name != device &&
             text->number == Alternative::text(row.name).number;
    });
  }
  return false;
}

}  // namespace dtype_guard::flow
