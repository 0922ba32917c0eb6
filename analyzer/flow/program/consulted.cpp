#include "analyzer/flow/program/consulted.h"

#include <utility>

namespace dtype_guard::flow {

thread_local Consulted* Consulted::now_ = nullptr;

Consulted::Consulted() : before_(std::exchange(now_, this)) {}
Consulted::~Consulted() { now_ = before_; }

void Consulted::note_flow() {
  if (now_) now_->has_flow_ = true;
}
void Consulted::note_body(std::uint32_t function) {
  if (now_) now_->bodies_.insert(function);
}
void Consulted::note_calls_of(std::uint32_t forward) {
  if (now_) now_->forwards_.insert(forward);
}

}  // namespace dtype_guard::flow
