#include "sanitizer/capture/python_frames.h"

#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/platform/system.h"

namespace dtype_guard::san {
namespace {

struct Layout {
  std::uint32_t version;
  std::uint32_t thread_frame, through_c_frame, c_frame_frame;
  std::uint32_t previous, code, instruction, owner, is_entry;
  std::uint32_t file_name, qualified_name, line_table, first_line, bytecode;
  std::uint32_t ascii_size, compact_size;
  std::uint32_t frames_are_objects;
};
constexpr Layout kLayouts[] = {
#define DTYPE_SAN_PYTHON(...) {__VA_ARGS__},
#include "sanitizer/capture/python_layouts.inc"
#undef DTYPE_SAN_PYTHON
};

constexpr char kOwnedByCStack = 3;            // or more: 3.14 knows two kinds
constexpr std::uintptr_t kReferenceTags = 7;  // of 3.14, in the lowest bits of a frame's pointer to its code
constexpr std::size_t kBytesHeader = 32, kVarSize = 16, kTextLength = 16, kTextState = 32;

std::atomic<const Layout*> layout{nullptr};
std::atomic<void* (*)()> thread_state{nullptr};
std::atomic<const char*> problem{nullptr};

// What _Py_DebugOffsets (from 3.13) says at a byte of it.
std::uint64_t stated(const char* runtime, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, runtime + at, sizeof value);
  return value;
}

// Where it says that, per release.
struct Statements {
  std::uint32_t version;
  std::size_t thread_frame, previous, code, instruction, owner;
  std::size_t file_name, qualified_name, line_table, first_line, bytecode;
};
constexpr Statements kStatements[] = {
    {0x030d, 184, 232, 240, 248, 264, 280, 296, 304, 312, 344},
    {0x030e, 208, 256, 264, 272, 288, 320, 336, 344, 352, 384},
};

bool agrees(const Layout& known, const char* runtime) {
  for (const Statements& at : kStatements) {
    if (at.version != known.version) continue;
    return stated(runtime, at.thread_frame) == known.thread_frame &&
           stated(runtime, at.previous) == known.previous && stated(runtime, at.code) == known.code &&
           stated(runtime, at.instruction) == known.instruction && stated(runtime, at.owner) == known.owner &&
           stated(runtime, at.file_name) == known.file_name &&
           stated(runtime, at.qualified_name) == known.qualified_name &&
           stated(runtime, at.line_table) == known.line_table &&
           stated(runtime, at.first_line) == known.first_line &&
           stated(runtime, at.bytecode) == known.bytecode;
  }
  return false;
}

const char* check(const Layout* known, const char* runtime) {
  if (known == nullptr) return "the layout of this CPython version is not known (3.10 to 3.14 are)";
  if (known->version < 0x030d) return nullptr;
  if (runtime == nullptr || std::memcmp(runtime, "xdebugpy", 8) != 0)
    return "CPython does not state its layout";
  if (stated(runtime, 16) != 0) return "this is a free-threaded CPython";
  return agrees(*known, runtime) ? nullptr
                                 : "CPython states another layout than the one known for its version";
}

template <typename T>
bool get(std::uintptr_t address, T& value) {
  return read_memory(reinterpret_cast<const void*>(address), &value, sizeof value);
}

// Without a check: the chain of the own thread, while it is inside a call.
std::uintptr_t at(std::uintptr_t address) {
  std::uintptr_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

std::uintptr_t innermost(const Layout& known) {
  auto* function = thread_state.load(std::memory_order_relaxed);
  auto state = reinterpret_cast<std::uintptr_t>(function != nullptr ? function() : nullptr);
  if (state == 0) return 0;
  std::uintptr_t place = at(state + known.thread_frame);
  if (known.through_c_frame != 0) place = place != 0 ? at(place + known.c_frame_frame) : 0;
  return place;
}

// Gives the number of bytes. Bytes of a file name that could not be decoded stand in a string as U+DC80 to
// U+DCFF; what cannot be printed becomes '?'.
std::size_t to_utf8(std::uint32_t character, char (&out)[4]) {
  if (character >= 0xDC80 && character <= 0xDCFF) return out[0] = static_cast<char>(character - 0xDC00), 1;
  const bool is_printable = character >= 32 && character != 127 && (character < 0xD800 || character > 0xDFFF);
  if (character < 0x80 || !is_printable) return out[0] = is_printable ? static_cast<char>(character) : '?', 1;
  const std::size_t size = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
  for (std::size_t i = size; i-- > 1; character >>= 6U)
    out[i] = static_cast<char>(0x80U | (character & 0x3FU));
  out[0] = static_cast<char>((0xF00U >> size & 0xFFU) | character);
  return size;
}

// A compact string as UTF-8; of a long one its end.
void read_text(const Layout& known, std::uintptr_t text, char (&out)[PythonFrame::kLongest]) {
  out[0] = '\0';
  std::int64_t length = 0;
  std::uint32_t state = 0;
  if (text == 0 || !get(text + kTextLength, length) || !get(text + kTextState, state) || length < 0) return;
  bool compact = (state >> 5 & 1U) != 0, ascii = (state >> 6 & 1U) != 0;
  unsigned width = state >> 2 & 7U;  // bytes of a character
  if (!compact || (width != 1 && width != 2 && width != 4)) return;
  // The end of a long path says more than its start.
  constexpr std::size_t kRoom = sizeof out - 1;
  auto count = static_cast<std::size_t>(length);
  std::uintptr_t start = text + (ascii ? known.ascii_size : known.compact_size);
  if (count > kRoom) {
    start += (count - kRoom) * width;
    count = kRoom;
  }
  char raw[kRoom * 4];
  if (!read_memory(reinterpret_cast<const void*>(start), raw, count * width)) return;
  char encoded[kRoom];
  std::size_t first = kRoom;
  for (std::size_t i = count; i-- > 0;) {
    std::uint32_t character = 0;
    char bytes[4];
    std::memcpy(&character, raw + i * width, width);
    const std::size_t size = to_utf8(character, bytes);
    if (size > first) break;
    first -= size;
    std::memcpy(encoded + first, bytes, size);
  }
  std::memcpy(out, encoded + first, kRoom - first);
  out[kRoom - first] = '\0';
}

class LineTable {
 public:
  LineTable(std::uintptr_t bytes, std::size_t size) : at_(bytes), left_(size) {}

  // In the table of 3.10: pairs of how many bytes of code, and by how many lines further than those before.
  std::uint32_t find_in_pairs(std::int64_t unit, std::int32_t first_line) {
    constexpr std::int8_t kNoLine = -128;
    std::int64_t line = first_line, passed = 0;
    while (left_ > 1) {
      passed += next();
      const auto lines = static_cast<std::int8_t>(next());
      if (lines != kNoLine) line += lines;
      if (unit * 2 < passed) return lines == kNoLine || line < 0 ? 0 : static_cast<std::uint32_t>(line);
    }
    return 0;
  }

  // The line of the instruction `unit`, counted in code units.
  std::uint32_t find(std::int64_t unit, std::int32_t first_line) {
    std::int64_t line = first_line, passed = 0;
    while (left_ != 0) {
      unsigned head = next();
      unsigned code = head >> 3 & 15U;
      if (code == 14 || code == 13) line += signed_number();
      if (code >= 10 && code <= 12) line += code - 10;
      unsigned more = code == 14 ? 0 : code >= 10 && code <= 12 ? 2 : code < 10 ? 1 : 0;
      if (code == 14)
        for (int i = 0; i < 3; ++i) (void)number();
      for (unsigned i = 0; i < more; ++i) (void)next();
      passed += (head & 7U) + 1;
      if (unit < passed) return code == 15 || line < 0 ? 0 : static_cast<std::uint32_t>(line);
    }
    return 0;
  }

 private:
  unsigned next() {
    if (left_ == 0) return 0;
    if (buffered_ == 0) {
      std::size_t count = left_ < sizeof buffer_ ? left_ : sizeof buffer_;
      if (!read_memory(reinterpret_cast<const void*>(at_), buffer_, count)) {
        left_ = 0;
        return 0;
      }
      at_ += count;
      buffered_ = count;
      position_ = 0;
    }
    --left_;
    --buffered_;
    return static_cast<unsigned char>(buffer_[position_++]);
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    unsigned byte = 0, shift = 0;
    do {
      byte = next();
      value |= std::uint64_t{byte & 63U} << shift;
      shift += 6;
    } while ((byte & 64U) != 0 && shift < 60);
    return value;
  }
  std::int64_t signed_number() {
    std::uint64_t value = number();
    auto half = static_cast<std::int64_t>(value >> 1);
    return (value & 1U) != 0 ? -half : half;
  }

  std::uintptr_t at_;
  std::size_t left_;
  char buffer_[256];
  std::size_t buffered_ = 0;
  std::size_t position_ = 0;
};

bool read_frame(const Layout& known, std::uintptr_t frame, PythonFrame& out) {
  std::uintptr_t code = 0, instruction = 0, file = 0, name = 0, table = 0;
  std::int32_t first_line = 0;
  std::int64_t table_size = 0;
  if (!get(frame + known.code, code) || !get(frame + known.instruction, instruction) || code == 0)
    return false;
  code &= ~kReferenceTags;
  if (!get(code + known.file_name, file) || !get(code + known.qualified_name, name) ||
      !get(code + known.line_table, table) || !get(code + known.first_line, first_line))
    return false;
  read_text(known, file, out.file);
  read_text(known, name, out.function);
  if (out.file[0] == '\0' || out.function[0] == '\0') return false;
  constexpr std::int64_t kLargestTable = 1 << 20;
  out.line = 0;
  if (!get(table + kVarSize, table_size) || table_size <= 0 || table_size >= kLargestTable) return true;
  LineTable lines(table + kBytesHeader, static_cast<std::size_t>(table_size));
  if (known.frames_are_objects != 0)
    out.line = lines.find_in_pairs(static_cast<std::int32_t>(instruction), first_line);
  else
    out.line = lines.find(
        (static_cast<std::int64_t>(instruction) - static_cast<std::int64_t>(code + known.bytecode)) / 2,
        first_line);
  return true;
}

bool is_module(const Layout& known, std::uintptr_t name) {
  constexpr char kModule[] = {'<', 'm', 'o', 'd', 'u', 'l', 'e', '>'};
  return std::memcmp(reinterpret_cast<const void*>(name + known.ascii_size), kModule, sizeof kModule) == 0;
}

// Tells the places of calls apart. The code of a module or of a notebook's cell is freed once it has run, and
// the next may lie where it lay, line table and all: its lines count, as far as the beginning of the table
// goes, and not where it lies. Other code lives as long as a function.
std::uint64_t frame_position(const Layout& known, std::uintptr_t frame) {
  constexpr std::uint64_t kMix = 0xd6e8feb86659fd93U;
  constexpr std::uintptr_t kMostBytes = 256;
  const bool is_object = known.frames_are_objects != 0;  // which counts its instructions
  std::uintptr_t instruction = at(frame + known.instruction);
  if (is_object) instruction = static_cast<std::uint32_t>(instruction);
  const bool may_be_of_c = known.is_entry == 0 && !is_object;
  if (may_be_of_c && *reinterpret_cast<const char*>(frame + known.owner) >= kOwnedByCStack)
    return instruction;
  const std::uintptr_t code = at(frame + known.code) & ~kReferenceTags;
  if (code == 0) return instruction;
  const std::uintptr_t table = at(code + known.line_table), name = at(code + known.qualified_name);
  const std::uint64_t start =
      (at(code + known.file_name) ^ static_cast<std::uint32_t>(at(code + known.first_line))) * kMix;
  if (table == 0 || name == 0 || !is_module(known, name)) return (start ^ code ^ table) * kMix ^ instruction;
  const std::uintptr_t size = at(table + kVarSize), offset = is_object ? instruction : instruction - code;
  const void* lines = reinterpret_cast<const void*>(table + kBytesHeader);
  if (size > kMostBytes) return (start ^ code ^ XXH3_64bits(lines, kMostBytes)) * kMix ^ instruction;
  return (start ^ XXH3_64bits(lines, size)) * kMix ^ offset;
}

// PyTorch calls itself through many frames, as it traces and as it runs what it compiled. Who calls that is
// told rather: behind as many as fill three quarters they are left out.
bool is_left_out(const PythonFrame& frame, std::size_t count, std::size_t capacity) {
  return count >= capacity - capacity / 4 && std::strstr(frame.file, "-packages/torch/") != nullptr;
}

// Major and minor number, as in the table; before 3.11 only a text has them ("3.10.13 (main, ...").
std::uint32_t version_of(const LoadedObject& object) {
  if (const auto* stated = static_cast<const std::uint32_t*>(object.find_object("Py_Version")))
    return *stated >> 16;
  void* function = object.find_function("Py_GetVersion");
  const char* text = function != nullptr ? reinterpret_cast<const char* (*)()>(function)() : nullptr;
  if (text == nullptr || text[0] != '3' || text[1] != '.') return 0;
  std::uint32_t minor = 0;
  for (const char* digit = text + 2; *digit >= '0' && *digit <= '9'; ++digit)
    minor = minor * 10 + static_cast<std::uint32_t>(*digit - '0');
  return 0x0300 | minor;
}

}  // namespace

void find_python() {
  if (layout.load(std::memory_order_relaxed) != nullptr || problem.load(std::memory_order_relaxed) != nullptr)
    return;
  void* get_state = nullptr;
  const char* runtime = nullptr;
  std::uint32_t version = 0;
  each_loaded_object([&](const LoadedObject& object) {
    get_state = object.find_function("PyGILState_GetThisThreadState");
    if (get_state == nullptr) return true;
    runtime = static_cast<const char*>(object.find_object("_PyRuntime"));
    version = version_of(object);
    return false;
  });
  if (get_state == nullptr) return;
  const Layout* found = nullptr;
  for (const Layout& known : kLayouts)
    if (version == known.version) found = &known;
  if (const char* why = check(found, runtime)) {
    problem.store(why, std::memory_order_relaxed);
    return;
  }
  thread_state.store(reinterpret_cast<void* (*)()>(get_state), std::memory_order_relaxed);
  layout.store(found, std::memory_order_release);
  python_found.store(true, std::memory_order_release);
}

const char* python_problem() { return problem.load(std::memory_order_relaxed); }

std::size_t capture_python(PythonFrame* frames, std::size_t capacity) {
  const Layout* known = layout.load(std::memory_order_acquire);
  if (known == nullptr) return 0;
  std::size_t count = 0;
  const auto add = [&](bool from_c) {
    if (is_left_out(frames[count], count, capacity))
      frames[count - 1].from_c = frames[count - 1].from_c || from_c;
    else
      frames[count++].from_c = from_c;
  };
  constexpr int kLongestChain = 512;
  std::uintptr_t frame = innermost(*known);
  for (int i = 0; i < kLongestChain && frame != 0 && count < capacity; ++i) {
    char owner = 0, is_entry = 0;
    if (known->frames_are_objects != 0) {
      if (read_frame(*known, frame, frames[count])) add(true);
      if (!get(frame + known->previous, frame)) break;
      continue;
    }
    if (!get(frame + known->owner, owner)) break;
    if (known->is_entry == 0 && owner >= kOwnedByCStack) {
      if (count != 0) frames[count - 1].from_c = true;
    } else if (read_frame(*known, frame, frames[count])) {
      if (known->is_entry != 0) (void)get(frame + known->is_entry, is_entry);
      add(is_entry != 0);
    }
    if (!get(frame + known->previous, frame)) break;
  }
  return count;
}

std::uint64_t read_python_position() {
  const Layout* known = layout.load(std::memory_order_acquire);
  if (known == nullptr) return 0;
  std::uint64_t position = 0;
  std::uintptr_t frame = innermost(*known);
  constexpr int kFrames = 4;
  for (int i = 0; i < kFrames && frame != 0; ++i) {
    position = (position ^ frame_position(*known, frame)) * 0x9e3779b97f4a7c15U;
    frame = at(frame + known->previous);
  }
  return position;
}

}  // namespace dtype_guard::san
