#include "analyzer/flow/program/consulted.h"

#include <utility>

namespace dtype_guard::flow {

thread_local Consulted* Consulted::now_ = nullptr;

Consulted::Consulted() : before_(std::exchange(now_, this)) {}
Consulted::~Consulted() { now_ = before_; }

void Consulted::note_flow() {
  if (now_) now_->read_.flow = true;
}
void Consulted::note_code(std::uint32_t function) {
  if (now_) now_->read_.codes.insert(function);
}
void Consulted::note_body(std::uint32_t function) {
  if (now_) now_->read_.bodies.insert(function);
}
void Consulted::note_calls_of(std::uint32_t forward) {
  if (now_) now_->read_.forwards.insert(forward);
}
void Consulted::note_again(const ReadOfProgram& then) {
  if (!now_) return;
  ReadOfProgram& all = now_->read_;
  all.flow = all.flow || then.flow;
  all.codes.insert(then.codes.begin(), then.codes.end());
  all.bodies.insert(then.bodies.begin(), then.bodies.end());
  all.forwards.insert(then.forwards.begin(), then.forwards.end());
}

}  // namespace dtype_guard::flow
