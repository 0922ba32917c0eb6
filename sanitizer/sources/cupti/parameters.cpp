#include "sanitizer/sources/cupti/parameters.h"

#include <string.h>

#include "sanitizer/sources/cupti/arguments.h"

namespace dtype_guard::san::cupti {

namespace {

constexpr std::int8_t kNone = -1;

#define PLACE(parameter, offset) \
  Place { parameter, offset }
#define CAST(kernel, mentions, out, x, elements, element_size, loader, storer) \
  {kernel, mentions, true, {out, x, {}}, elements, element_size, loader, storer},
#define ATTENTION(kernel, mentions, q, k, v) {kernel, mentions, false, {q, k, v}, 0, 0, kNone, kNone},
constexpr KernelParameters kRows[] = {
#include "sanitizer/sources/cupti/parameters.inc"
};
#undef ATTENTION
#undef CAST
#undef PLACE
constexpr std::size_t kRowCount = sizeof kRows / sizeof kRows[0];

bool contains(std::string_view text, const char* part) {
  return memmem(text.data(), text.size(), part, strlen(part)) != nullptr;
}

bool read_pointer(const Arguments& arguments, Place place, std::uint64_t& pointer) {
  const char* bytes =
      arguments.parameter(place.parameter, std::size_t{place.offset} + sizeof pointer, /*at_least=*/true);
  if (bytes == nullptr) return false;
  memcpy(&pointer, bytes + place.offset, sizeof pointer);
  return true;
}

// memory::LoadWithCast<1> and StoreWithCast<1>: the type, three bytes of nothing, the size of an element.
struct TypeAndSize {
  std::uint8_t type;
  std::uint32_t size;
};
static_assert(sizeof(TypeAndSize) == 8);

bool read_type(const Arguments& arguments, std::int8_t parameter, TypeAndSize& found) {
  const char* bytes = arguments.parameter(static_cast<std::size_t>(parameter), sizeof found);
  if (bytes == nullptr) return false;
  memcpy(&found, bytes, sizeof found);
  return found.size >= 1 && found.size <= 16 && found.type < 64;
}

}  // namespace

std::uint32_t find_parameters(std::string_view mangled) {
  for (std::uint32_t i = 0; i < kRowCount; ++i)
    if (contains(mangled, kRows[i].kernel) && contains(mangled, kRows[i].mentions)) return i + 1;
  return 0;
}

const KernelParameters* parameters(std::uint32_t row) {
  return row != 0 && row <= kRowCount ? &kRows[row - 1] : nullptr;
}

bool read_cast(const KernelParameters& row, const Arguments& arguments, CastArguments& cast) {
  std::int32_t elements = 0;
  const char* count = arguments.parameter(row.elements, sizeof elements);
  // The two pointers are the whole of their parameter: anything larger is another kernel than the row means.
  if (count == nullptr || arguments.parameter(row.places[0].parameter, 2 * sizeof cast.out) == nullptr ||
      !read_pointer(arguments, row.places[0], cast.out))
    return false;
  memcpy(&elements, count, sizeof elements);
  if (elements <= 0 || cast.out == 0) return false;
  cast.elements = static_cast<std::uint64_t>(elements);
  cast.element_size = row.element_size;
  if (row.loader == kNone) return true;
  TypeAndSize loaded, stored;
  if (!read_type(arguments, row.loader, loaded) || !read_type(arguments, row.storer, stored)) return false;
  cast.element_size = stored.size;
  cast.x_type = loaded.type + 1U;
  cast.out_type = stored.type + 1U;
  return true;
}

bool read_inputs(const KernelParameters& row, const Arguments& arguments, std::uint64_t (&inputs)[kInputs]) {
  for (std::size_t i = 0; i < kInputs; ++i)
    if (!read_pointer(arguments, row.places[i], inputs[i])) return false;
  return true;
}

}  // namespace dtype_guard::san::cupti
