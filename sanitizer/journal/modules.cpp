#include "sanitizer/journal/modules.h"

#include <unistd.h>

#include <algorithm>

#include "sanitizer/journal/journal_writer.h"
#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/platform/text_buffer.h"

namespace dtype_guard::san {
namespace {

// A module that was unloaded and another at its address differ in this key, so they get different numbers.
std::uint64_t module_key(const LoadedObject& object) {
  std::string_view id = object.build_id();
  std::uint64_t key = XXH3_64bits_withSeed(object.path, std::strlen(object.path), object.bias);
  if (!id.empty()) key ^= XXH3_64bits(id.data(), id.size());
  return key != 0 ? key : 1;
}

void absolute_path(const LoadedObject& object, Scratch& scratch, TextSink& path) {
  if (object.path[0] == '\0') {
    path << std::string_view(scratch.text, own_executable(scratch.text, sizeof scratch.text));
    return;
  }
  bool relative = object.path[0] != '/' && std::strchr(object.path, '/') != nullptr;
  if (relative && getcwd(scratch.text, sizeof scratch.text) != nullptr) path << scratch.text << '/';
  path << object.path;
}

bool write_module(Process& process, Scratch& scratch, const LoadedObject& object, std::uint32_t id) {
  TextSink path(scratch.path, sizeof scratch.path);
  absolute_path(object, scratch, path);
  FileStatus status;
  (void)path_status(path.c_str(), status);
  std::uintptr_t low, high;
  object.range(low, high);
  FrameBuilder frame(scratch.frame, FrameType::kModule);
  frame.u32(id)
      .u64(object.bias)
      .u64(low)
      .u64(high)
      .text(object.build_id())
      .u64(status.size)
      .u64(status.modified);
  frame.text(path.view());
  return append_frame(process, frame, scratch);
}

std::uint32_t module_number(Process& process, Scratch& scratch, const LoadedObject& object) {
  std::uint64_t key = module_key(object);
  for (std::size_t i = 0; i < Process::kModuleSlots; ++i) {
    ModuleSlot& slot = process.modules[(key + i) % Process::kModuleSlots];
    std::uint64_t seen = 0;
    if (!slot.key.compare_exchange_strong(seen, key, std::memory_order_acq_rel) && seen != key) continue;
    auto id = static_cast<std::uint32_t>((key + i) % Process::kModuleSlots + 1);
    // Two threads may both write it; the reader takes either.
    if (slot.recorded.load(std::memory_order_acquire) == 0 && write_module(process, scratch, object, id))
      slot.recorded.store(1, std::memory_order_release);
    return id;
  }
  return 0;
}

}  // namespace

void record_modules(Process& process, Scratch& scratch, const std::uintptr_t* addresses, std::uint32_t* ids,
                    std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) ids[i] = 0;
  const auto look_at = [&](const LoadedObject& object) {
    std::uint32_t id = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!object.contains(addresses[i] - 1)) continue;
      if (id == 0) id = module_number(process, scratch, object);
      ids[i] = id;
    }
    return true;
  };
  each_loaded_object(look_at);
  if (std::find(ids, ids + count, 0U) != ids + count) each_foreign_object(look_at);
}

}  // namespace dtype_guard::san
