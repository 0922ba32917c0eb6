#include "sanitizer/process/switch.h"

#include <string.h>

#include <algorithm>

#include "sanitizer/process/process.h"

namespace dtype_guard::san {
namespace {

constinit std::atomic<ControlPage*> page{nullptr};

template <std::size_t size>
void put_text(char (&field)[size], std::string_view text) {
  const std::size_t length = std::min(text.size(), size - 1);
  memcpy(field, text.data(), length);
  field[length] = '\0';
}

void put_journal(ControlPage& shared, const Process& process) {
  const bool is_open =
      process.journal.load(std::memory_order_acquire) == static_cast<std::uint32_t>(JournalState::kOpen);
  const std::uint32_t error = process.loss_reason.load(std::memory_order_relaxed);
  TextBuffer<sizeof shared.problem> problem;
  if (!is_open)
    (void)tell_journal_problem(process, problem);
  else if (error != 0)
    problem << "some of what it found could not be written: " << error_text(-static_cast<long>(error));
  put_text(shared.journal, is_open ? std::string_view(process.journal_path) : std::string_view());
  put_text(shared.problem, problem.view());
}

}  // namespace

ControlPage* control_page() { return page.load(std::memory_order_relaxed); }

void use_control_page(ControlPage* made) {
  page.store(made, std::memory_order_relaxed);
  switch_word.store(&made->on, std::memory_order_release);
}

// Threads may change the state while one shows it, and before there is a page: who shows then does it again.
void show_journal(Process& process) {
  if (process.showing.fetch_add(1, std::memory_order_acq_rel) != 0) return;
  std::uint32_t shown = 1;
  do {
    if (ControlPage* shared = control_page()) put_journal(*shared, process);
  } while (!process.showing.compare_exchange_weak(shown, 0, std::memory_order_acq_rel));
}

}  // namespace dtype_guard::san
