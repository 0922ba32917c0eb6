// What one run of a program decides that the program does not: flags, shapes, what unknown code gives back.
// A run asks for each decision as it comes to it; `next` steps through all runs, depth first, so that every
// combination that can be met is met once. `shuffle` instead leaves all decisions of the next run to chance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace dtype_guard::oracle {

class Choices {
 public:
  // One of 0 .. options - 1. What has a name is decided once in a run.
  std::size_t pick(std::size_t options, const std::string& name = {}) {
    if (!name.empty()) {
      if (const auto known = named_.find(name); known != named_.end()) return known->second;
    }
    if (at_ == taken_.size()) taken_.push_back({chance_ ? (*chance_)() % options : 0, options});
    const std::size_t out = taken_[at_++].option;
    if (!name.empty()) named_[name] = out, place_[name] = at_ - 1;
    return out;
  }
  // The decisions of this run once more, but for those of these names, of which the first option is taken.
  Choices but_for(const std::vector<std::string>& names) const {
    Choices out;
    out.taken_.assign(taken_.begin(), taken_.begin() + static_cast<std::ptrdiff_t>(at_));
    for (const std::string& each : names) out.taken_[place_.at(each)].option = 0;
    return out;
  }
  // What a run has decided until now, with which another one begins that differs in what follows alone.
  struct Mark {
    std::size_t at = 0;
    std::map<std::string, std::size_t> named, place;
  };
  Mark mark() const { return {at_, named_, place_}; }
  void return_to(const Mark& mark) {
    at_ = mark.at;
    named_ = mark.named;
    place_ = mark.place;
  }
  std::size_t decided() const { return at_; }
  // Which decision the run that begins takes otherwise than the one before.
  std::size_t changed() const { return taken_.size() - 1; }
  // Whether that is this one, of which no option is left.
  bool changes_to_last(std::size_t at) const {
    return at == changed() && taken_.back().option + 1 == taken_.back().options;
  }
  // Whether some decision since then could be taken otherwise.
  bool may_change_since(std::size_t at) const {
    for (; at < at_; ++at) {
      if (taken_[at].option + 1 < taken_[at].options) return true;
    }
    return false;
  }
  // Begins the next run; false when there is none.
  bool next() {
    taken_.resize(at_);
    while (!taken_.empty() && taken_.back().option + 1 >= taken_.back().options) taken_.pop_back();
    if (taken_.empty()) return false;
    ++taken_.back().option;
    begin();
    return true;
  }
  void shuffle(std::uint64_t seed) {
    if (!chance_) chance_.emplace(seed);
    taken_.clear();
    begin();
  }

 private:
  void begin() {
    at_ = 0;
    named_.clear();
    place_.clear();
  }
  struct Taken {
    std::size_t option, options;
  };
  std::vector<Taken> taken_;
  std::size_t at_ = 0;
  std::map<std::string, std::size_t> named_, place_;  // what was decided, and as which decision
  std::optional<std::mt19937_64> chance_;
};

}  // namespace dtype_guard::oracle
