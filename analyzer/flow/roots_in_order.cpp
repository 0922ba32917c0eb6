#include "analyzer/flow/roots_in_order.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "analyzer/flow/roots/given_up.h"
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
                           const std::string& torch_version, const AnalysisOptions& options, Work& work,
                           std::size_t allowed)
    : program_(program),
      setting_(setting),
      torch_version_(torch_version),
      options_(options),
      end_(work.steps() + std::min(allowed, std::numeric_limits<std::size_t>::max() - work.steps())),
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

std::size_t RootsInOrder::allowance(std::size_t done, std::size_t at) const {
  return share_of_root(end_ - std::min(end_, done), roots_->size() - at - 1);
}

std::string RootsInOrder::key_of_halves() const {
  return setting_.name + ' ' + torch_version_ + ' ' + options_.memo_variant;
}

std::string RootsInOrder::key_of(const Group& group) const {
  const AskedRoot& first = (*roots_)[group.begin];
  std::string out = key_of_halves() + ' ' + first.options->device + (first.only_in ? " here" : "");
  for (std::size_t i = group.begin; i < group.end; ++i) out += ' ' + std::to_string((*roots_)[i].root);
  return out;
}

std::optional<RootsInOrder::Outcome> RootsInOrder::kept_of(const Group& group, const Program& program) const {
  const KeptGroup* known = kept_ ? kept_->find(key_of(group), program) : nullptr;
  if (!known || known->roots.size() != group.end - group.begin) return std::nullopt;
  Outcome out;
  for (const KeptGroup::Root& each : known->roots) {
    out.roots.push_back({{}, each.is_settled, each.is_left_out, each.is_given_up, each.problem, {}, {}});
    out.work.push_back(each.work);
    out.allowed.push_back(each.allowed);
  }
  out.knew_halves = known->knew_halves;
  if (out.knew_halves) {
    const ClassesMadeHalf* halves = kept_->halves(key_of_halves());
    if (!halves) return std::nullopt;
    out.halves = *halves;
  }
  kept_->give_back(*known, program, out.seen);
  out.to_keep = *known;
  return out;
}

void RootsInOrder::keep(const Group& group, Outcome& outcome) {
  if (!kept_ || !outcome.to_keep) return;
  kept_->keep(key_of(group), std::move(*outcome.to_keep));
}

// Work is taken from a root in whole steps, so that it costs the same wherever it is looked at.
RootsInOrder::Outcome RootsInOrder::evaluate(const Group& group, const Program& program, const Work& from,
                                             FindingCollector& collector) {
  Outcome out;
  out.begun_at = from.steps();
  const std::optional<ClassesMadeHalf>& halves = halves_of(program);
  out.knew_halves = halves.has_value();
  Work work = from;
  const Consulted consulted;
  Pass pass(program, *(*roots_)[group.begin].options, setting_, torch_version_, work);
  std::size_t done = 0;
  for (std::size_t i = group.begin; i < group.end; ++i) {
    const AskedRoot& asked = (*roots_)[i];
    work = from;
    add_steps(work, done);
    const std::size_t allowed = allowance(work.steps(), i);
    out.allowed.push_back(allowed);
    work.allow(end_ - std::min(end_, work.steps()));
    work.allow_root(allowed);
    KeptRoot& now = out.roots.emplace_back();
    collector.only_in(asked.only_in);
    collector.keep_in(&now.findings);
    const bool is_done = allowed > 0 && pass.look_at(asked.root, collector, out.seen, now.problem);
    collector.keep_in(nullptr);
    now.decided = std::exchange(out.seen.decided, {});
    now.is_left_out = !is_done && (allowed == 0 || work.is_used_up());
    now.is_given_up = !is_done && !now.is_left_out;
    now.is_settled = !now.is_left_out && pass.is_settled();
    out.work.push_back(work.steps() - from.steps() - done);
    done += out.work.back();
  }
  out.halves = halves;
  if (kept_ && KeptGroups::can_be_kept(out.roots, consulted)) {
    out.to_keep = kept_->group(out.roots, out.seen, consulted, pass.ran(), program);
    out.to_keep->knew_halves = out.knew_halves;
    for (std::size_t i = 0; i < out.roots.size(); ++i) {
      out.to_keep->roots[i].work = out.work[i];
      out.to_keep->roots[i].allowed = out.allowed[i];
    }
  }
  return out;
}

// Whether it is what comes of these roots now that all before them are done.
bool RootsInOrder::holds(const Outcome& outcome, const Group& group) const {
  // Only the first that asks for these pays for them.
  const bool was_known = outcome.knew_halves;
  if (was_known != halves_.has_value() && (was_known || outcome.halves)) return false;
  if (was_known && !are_same(*outcome.halves, *halves_)) return false;
  if (outcome.begun_at == work_.steps()) return true;
  std::size_t done = work_.steps();
  for (std::size_t i = 0; i < outcome.roots.size(); ++i) {
    const std::size_t allowed = allowance(done, group.begin + i);
    // With another allowance it is the same only where neither was reached.
    const bool is_free = outcome.work[i] + 1 < std::min(allowed, outcome.allowed[i]);
    if (allowed != outcome.allowed[i] && (!is_free || outcome.roots[i].is_left_out)) return false;
    done += outcome.work[i];
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
    keep(group, outcome);
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
      std::optional<Outcome> known = kept_of(groups_[at], program);
      Outcome outcome = known ? std::move(*known) : evaluate(groups_[at], program, from, collector);
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

void RootsInOrder::look_at(const std::vector<AskedRoot>& roots, Workers& workers, const Taker& taker) {
  roots_ = &roots;
  kept_ = workers.kept_groups();
  divide();
  workers.run([&](const Program& program, bool is_callers) { serve(program, is_callers, taker); });
  FindingCollector collector(program_.functions.module(), options_);
  take_finished(collector, taker);
  if (kept_ && halves_) kept_->keep_halves(key_of_halves(), *halves_);
}

}  // namespace dtype_guard::flow
