#include "analyzer/flow/roots_in_order.h"

#include <numeric>
#include <utility>

#include "analyzer/flow/workers.h"

namespace dtype_guard::flow {

namespace {
void add_steps(Work& work, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) work.add_step(0);
}
bool are_same(const ClassesMadeHalf& a, const ClassesMadeHalf& b) {
  return a.parameters == b.parameters && a.buffers == b.buffers;
}
}  // namespace

RootsInOrder::RootsInOrder(const Program& program, const PrecisionSetting& setting,
                           const std::string& torch_version, const AnalysisOptions& options, Work& work)
    : program_(program),
      setting_(setting),
      torch_version_(torch_version),
      options_(options),
      work_(work),
      halves_(halves_of(program)) {}

std::optional<ClassesMadeHalf>& RootsInOrder::halves_of(const Program& program) const {
  return program.made_half(setting_.name, torch_version_);
}

void RootsInOrder::divide() {
  const auto owner = [&](std::size_t at) -> const std::string& {
    return program_.functions.function((*roots_)[at].root).class_name;
  };
  for (std::size_t i = 0; i < roots_->size(); ++i) {
    const bool goes_on = i > 0 && !owner(i).empty() && owner(i) == owner(i - 1) &&
                         (*roots_)[i].options == (*roots_)[i - 1].options;
    if (!goes_on) groups_.push_back({i, i});
    groups_.back().end = i + 1;
  }
  outcomes_.resize(groups_.size());
}

// Work is taken from a root in whole steps, so that it costs the same wherever it is looked at.
RootsInOrder::Outcome RootsInOrder::evaluate(const Group& group, const Program& program, const Work& from,
                                             FindingCollector& collector) {
  Outcome out;
  out.begun_at = from.steps();
  const std::optional<ClassesMadeHalf>& halves = halves_of(program);
  out.knew_halves = halves.has_value();
  Work work = from;
  Pass pass(program, *(*roots_)[group.begin].options, setting_, torch_version_, work);
  std::size_t done = 0;
  for (std::size_t i = group.begin; i < group.end; ++i) {
    const AskedRoot& asked = (*roots_)[i];
    work = from;
    add_steps(work, done);
    work.begin_root(asked.root == last_);
    KeptRoot& now = out.roots.emplace_back();
    collector.only_in(asked.only_in);
    collector.keep_in(&now.findings);
    const bool is_done = !work.is_used_up() && pass.look_at(asked.root, collector, out.seen, now.problem);
    collector.keep_in(nullptr);
    now.is_left_out = !is_done && work.is_used_up();
    now.is_given_up = !is_done && !now.is_left_out;
    now.is_settled = !now.is_left_out && pass.is_settled();
    out.work.push_back(work.steps() - from.steps() - done);
    done += out.work.back();
  }
  out.halves = halves;
  return out;
}

// Whether it is what comes of these roots now that all before them are done.
bool RootsInOrder::holds(const Outcome& outcome, const Group& group) const {
  // Only the first that asks for these pays for them.
  const bool was_known = outcome.knew_halves;
  if (was_known != halves_.has_value() && (was_known || outcome.halves)) return false;
  if (was_known && !are_same(*outcome.halves, *halves_)) return false;
  if (outcome.begun_at == work_.steps()) return true;
  Work now = work_;
  for (std::size_t i = 0; i < outcome.roots.size(); ++i) {
    now.begin_root((*roots_)[group.begin + i].root == last_);
    Work behind = now;
    add_steps(behind, outcome.work[i] + 1);
    const bool is_too_much = behind.is_used_up() || behind.is_used_up_by_root();
    if (is_too_much || outcome.roots[i].is_left_out) return false;
    add_steps(now, outcome.work[i]);
  }
  return true;
}

void RootsInOrder::take_finished(FindingCollector& collector, const Taker& taker) {
  for (;; ++taken_) {
    {
      const std::lock_guard lock(mutex_);
      if (taken_ == groups_.size() || !outcomes_[taken_]) return;
    }
    const Group& group = groups_[taken_];
    Outcome outcome = std::move(*outcomes_[taken_]);
    if (!holds(outcome, group)) {
      halves_of(program_) = halves_;
      outcome = evaluate(group, program_, work_, collector);
    }
    taker.seen(outcome.seen);
    for (std::size_t i = 0; i < outcome.roots.size(); ++i)
      taker.root((*roots_)[group.begin + i].root, outcome.roots[i]);
    const std::lock_guard lock(mutex_);
    outcomes_[taken_].reset();
    add_steps(work_, std::accumulate(outcome.work.begin(), outcome.work.end(), std::size_t{0}));
    if (!halves_) halves_ = std::move(outcome.halves);
  }
}

void RootsInOrder::serve(const Program& program, bool is_callers, const Taker& taker) {
  FindingCollector collector(program.functions.module(), options_);
  for (;;) {
    std::size_t at = 0;
    Work from;
    {
      const std::lock_guard lock(mutex_);
      if (failed_ || next_ == groups_.size()) break;
      at = next_++;
      from = work_;
      if (halves_) halves_of(program) = halves_;
    }
    try {
      Outcome outcome = evaluate(groups_[at], program, from, collector);
      const std::lock_guard lock(mutex_);
      outcomes_[at] = std::move(outcome);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failed_ = true;
      throw;
    }
    if (is_callers) take_finished(collector, taker);
  }
}

void RootsInOrder::look_at(const std::vector<AskedRoot>& roots, std::uint32_t last, Workers& workers,
                           const Taker& taker) {
  roots_ = &roots;
  last_ = last;
  divide();
  workers.run([&](const Program& program, bool is_callers) { serve(program, is_callers, taker); });
  FindingCollector collector(program_.functions.module(), options_);
  take_finished(collector, taker);
}

}  // namespace dtype_guard::flow
