// A source that uses each part of the interface and watches nothing: it answers two names that the program
// looks up, and tells in the journal what it was told itself.
#include "sanitizer/runtime/source.h"

#include <stdint.h>

#include <atomic>

#include "sanitizer/journal/journal_writer.h"
#include "sanitizer/platform/wiped_in_child.h"
#include "sanitizer/runtime/watching.h"

namespace dtype_guard::san {

extern const Source answers_source;

namespace {

struct State {
  std::atomic<std::uint64_t> answered;
};
constinit WipedInChild<State> state;
constinit bool has_arrived = false;
constinit bool is_forked = false;
constinit std::atomic<std::uint64_t> switches{0};

int answer() { return 42; }
int forked_and_fresh() { return is_forked && state.get()->answered.load() == 1 ? 1 : 0; }

LookupAnswer look_up(const Lookup& lookup) {
  if (lookup.name == nullptr || !is_watching()) return {};
  const bool wants_answer = same_text(lookup.name, "added_answer");
  if (!wants_answer && !same_text(lookup.name, "added_forked")) return {};
  State* known = state.get();
  if (known == nullptr) return {};
  known->answered.fetch_add(1);
  if (known->answered.load() == 1) record_source(*process(), answers_source);
  return {true, wants_answer ? reinterpret_cast<void*>(answer) : reinterpret_cast<void*>(forked_and_fresh)};
}

void finish(Process& process, Scratch& scratch) {
  TextBuffer<128> text;
  text << "answers: " << std::uint64_t{switches.load()} << " switches";
  write_note(process, scratch, text.view());
}

bool tell_status(SourceStatus& status) {
  const State* known = state.known();
  if (!has_arrived || known == nullptr) return false;
  status.is_on = true;
  status.reason << std::uint64_t{known->answered.load()} << " lookups answered";
  return true;
}

}  // namespace

constinit const Source answers_source = {
    .name = "answers",
    .arrived =
        [](Arrival& arrival) {
          has_arrived = true;
          arrival.has_watched = true;
        },
    .looked_up = look_up,
    .forked = [] { is_forked = true; },
    .switched = [](bool) { switches.fetch_add(1); },
    .finish = finish,
    .status = tell_status,
};

}  // namespace dtype_guard::san
