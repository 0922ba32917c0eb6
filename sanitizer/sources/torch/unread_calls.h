// Calls whose operands were not looked at, with the reason. They are neither counted as calls nor checked,
// and told of by name.
#pragma once

#include "sanitizer/contracts/contract_table.h"
#include "sanitizer/journal/journal_writer.h"
#include "sanitizer/process/process.h"

namespace dtype_guard::san::torch {

enum class Unread : std::uint8_t {
  kNoMemory,  // traced, batched (vmap and the other transforms), nested or empty tensors
  kNoRoom,    // the thread has none, or as many open records as there is room for
};
inline constexpr std::size_t kUnreadReasons = 2;

void note_unread(ApiId api, Unread why);
// A record of which no contract speaks, for which there was no room.
void note_unread_record();
void write_unread(Process& process, Scratch& scratch);
// In a forked child.
void forget_unread();

}  // namespace dtype_guard::san::torch
