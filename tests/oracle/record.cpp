#include "tests/oracle/record.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>

namespace dtype_guard::oracle {
namespace {
// Fewer programs may leave a kind of instruction out.
constexpr std::uint64_t kMostOfRecord = 10000;

void compare_shares(const std::string& what, const std::map<std::string, double>& recorded,
                    const std::map<std::string, Share>& now, std::vector<std::string>& out) {
  for (const auto& [kind, least] : recorded) {
    const auto found = now.find(kind);
    const bool met = found != now.end() && found->second.of > 0;
    const double share =
        met ? static_cast<double>(found->second.found) / static_cast<double>(found->second.of) : 0;
    if (share + 1e-9 >= least) continue;
    out.push_back(what + " of '" + kind + "' is " + std::to_string(share) + ", recorded is " +
                  std::to_string(least));
  }
}
}  // namespace

Record::Record(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(file + ": cannot be read");
  const nlohmann::json all = nlohmann::json::parse(in);
  programs_ = all.at("programs");
  asked_ = all.at("asked").get<std::map<std::string, std::size_t>>();
  instructions_ = all.at("instructions").get<InstructionCounts>();
  known_ = all.at("known").get<std::map<std::string, double>>();
  definite_ = all.at("definite").get<std::map<std::string, double>>();
  sometimes_ = all.at("sometimes").get<std::map<std::string, double>>();
  for (const auto& group : all.at("failures")) {
    for (const auto& seed : group.at("seeds"))
      failures_[{seed.get<std::uint64_t>(), group.at("property")}] = {group.at("cause"),
                                                                      group.value("tier", "A") == "B"};
  }
}

bool Record::is_known(std::uint64_t seed, const std::string& property) {
  const Failure failure(seed, property);
  const bool out = failures_.contains(failure);
  if (out) met_.insert(failure);
  return out;
}

std::vector<Record::Beyond> Record::beyond(std::uint64_t first, std::uint64_t programs) const {
  std::vector<Beyond> out;
  if (first != 1 || programs != programs_) return out;
  for (const auto& [failure, known] : failures_) {
    const bool is_new = out.empty() || out.back().seed != failure.first;
    if (failure.first > programs_ && is_new) out.push_back({failure.first, known.open});
  }
  return out;
}

std::vector<std::string> Record::compare(const Tally& tally, std::uint64_t first,
                                         std::uint64_t programs) const {
  std::vector<std::string> out;
  if (first == 1 && programs == programs_) {
    for (const auto& [what, least] : asked_) {
      const auto now = tally.asked.find(what);
      const std::size_t asked = now == tally.asked.end() ? 0 : now->second;
      if (asked < least)
        out.push_back("'" + what + "' is asked of " + std::to_string(asked) + " programs, recorded are " +
                      std::to_string(least));
    }
    for (const std::string& kind : counted_instructions()) {
      const auto least = instructions_.find(kind), now = tally.instructions.find(kind);
      const std::size_t recorded = least == instructions_.end() ? 0 : least->second;
      const std::size_t run = now == tally.instructions.end() ? 0 : now->second;
      if (run < recorded || (run == 0 && programs >= kMostOfRecord))
        out.push_back("runs go through " + std::to_string(run) + " of '" + kind + "', recorded are " +
                      std::to_string(recorded));
    }
    compare_shares("what is known", known_, tally.known, out);
    compare_shares("what is found", definite_, tally.definite, out);
    compare_shares("what is found of what breaks sometimes", sometimes_, tally.sometimes, out);
  }
  for (const auto& [failure, known] : failures_) {
    const bool is_whole = first == 1 && programs == programs_;
    const bool run = is_whole || (failure.first >= first && failure.first < first + programs);
    if (run && !met_.contains(failure))
      out.push_back("seed " + std::to_string(failure.first) +
                    " holds now, take it out of the record: " + known.cause);
  }
  return out;
}

void Record::write(const std::string& file, const Tally& tally, std::uint64_t programs) const {
  constexpr double kSteps = 10000;
  const auto shares = [&](const std::map<std::string, Share>& all) {
    nlohmann::ordered_json out = nlohmann::ordered_json::object();
    for (const auto& [kind, share] : all)
      out[kind] =
          std::floor(kSteps * static_cast<double>(share.found) / static_cast<double>(share.of)) / kSteps;
    return out;
  };
  using Group = std::tuple<std::string, std::string, bool>;
  std::map<Group, std::vector<std::uint64_t>> causes;
  for (const auto& [failure, known] : failures_)
    causes[{failure.second, known.cause, known.open}].push_back(failure.first);
  nlohmann::ordered_json failures = nlohmann::ordered_json::array();
  for (const auto& [what, seeds] : causes) {
    nlohmann::ordered_json group = {{"property", std::get<0>(what)}, {"cause", std::get<1>(what)}};
    if (std::get<2>(what)) group["tier"] = "B";
    group["seeds"] = seeds;
    failures.push_back(std::move(group));
  }
  const nlohmann::ordered_json out = {{"programs", programs},
                                      {"asked", tally.asked},
                                      {"instructions", tally.instructions},
                                      {"known", shares(tally.known)},
                                      {"definite", shares(tally.definite)},
                                      {"sometimes", shares(tally.sometimes)},
                                      {"failures", failures}};
  std::ofstream(file) << out.dump(2) << "\n";
}

}  // namespace dtype_guard::oracle
