#include "analyzer/python/parse_watch.h"

#include <utility>

namespace dtype_guard::python {

namespace {
ParseWatch& watch() {
  static ParseWatch one;
  return one;
}
}  // namespace

void watch_parsing(ParseWatch watch_now) { watch() = std::move(watch_now); }

ParsedNow::ParsedNow(const std::string& path) {
  if (watch()) before_ = watch()(path);
}
ParsedNow::~ParsedNow() {
  if (watch()) watch()(before_);
}

}  // namespace dtype_guard::python
