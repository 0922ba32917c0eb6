// The sources, as the rows of sources.inc name them: constant, so that it is there before anything runs.
#include "sanitizer/runtime/source.h"

namespace dtype_guard::san {

#define DTYPE_SAN_SOURCE(id, on, text) extern const Source id##_source;
#include "sanitizer/sources/sources.inc"
#undef DTYPE_SAN_SOURCE

namespace {

constexpr const Source* kSources[] = {
#define DTYPE_SAN_SOURCE(id, on, text) &id##_source,
#include "sanitizer/sources/sources.inc"
#undef DTYPE_SAN_SOURCE
};

}  // namespace

std::span<const Source* const> sources() { return kSources; }

}  // namespace dtype_guard::san
