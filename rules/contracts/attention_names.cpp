#include "rules/contracts/attention_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

namespace dtype_guard {
namespace {

using namespace std::string_view_literals;

// "scaled_dot_product", "ScaledDotProduct" and "SDPA2d" as words in small letters, digits left out.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  std::string word;
  const auto end = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  const auto is_upper = [&](std::size_t at) {
    return at < name.size() && std::isupper(static_cast<unsigned char>(name[at]));
  };
  const auto is_lower = [&](std::size_t at) {
    return at < name.size() && std::islower(static_cast<unsigned char>(name[at]));
  };
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!is_upper(i) && !is_lower(i)) {
      end();
      continue;
    }
    const bool begins = is_upper(i) && i > 0 && (is_lower(i - 1) || is_lower(i + 1));
    if (begins) end();
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  end();
  return words;
}

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Functions that ask or arrange something, whatever their name ends in.
constexpr std::array kAsks = {"is"sv,      "has"sv,     "get"sv,      "set"sv,     "use"sv,      "uses"sv,
                              "enable"sv,  "disable"sv, "supports"sv, "check"sv,   "register"sv, "replace"sv,
                              "convert"sv, "test"sv,    "load"sv,     "init"sv,    "reset"sv,    "validate"sv,
                              "assert"sv,  "log"sv,     "should"sv,   "prepare"sv, "can"sv};
// What may follow the noun: how the call is made, and not what it is about.
constexpr std::array kHow = {"func"sv,     "fn"sv,       "fwd"sv,    "forward"sv,   "bwd"sv,
                             "backward"sv, "op"sv,       "impl"sv,   "interface"sv, "layer"sv,
                             "block"sv,    "module"sv,   "varlen"sv, "packed"sv,    "qkvpacked"sv,
                             "kvpacked"sv, "unpadded"sv, "with"sv,   "kvcache"sv,   "call"sv,
                             "wrapper"sv,  "inplace"sv,  "apply"sv,  "d"sv,         "v"sv};
constexpr std::array kNouns = {"attention"sv, "attn"sv, "sdpa"sv, "rotary"sv, "mha"sv};
constexpr std::array kTables = {"emb"sv, "embedding"sv, "embeddings"sv, "embed"sv, "pos"sv};

// "forward", "backward": each module has one, whatever it computes.
bool says_only_how(std::string_view name) {
  const std::vector<std::string> words = words_of(name);
  return std::all_of(words.begin(), words.end(),
                     [](const std::string& word) { return is_one_of(kHow, word); });
}

}  // namespace

bool is_named_like_attention(std::string_view name) {
  // Most names of a program are none, and this is asked of all.
  constexpr std::array kParts = {"tt"sv, "TT"sv, "otary"sv, "OTARY"sv, "dpa"sv, "DPA"sv, "mha"sv, "MHA"sv};
  if (std::none_of(kParts.begin(), kParts.end(),
                   [&](std::string_view part) { return name.find(part) != std::string_view::npos; }))
    return false;
  std::vector<std::string> words = words_of(name);
  if (words.empty() || is_one_of(kAsks, words.front())) return false;
  while (!words.empty() && is_one_of(kHow, words.back())) words.pop_back();
  if (words.empty()) return false;
  if (is_one_of(kNouns, words.back())) return true;
  const bool is_rotary = std::find(words.begin(), words.end(), "rotary") != words.end();
  return is_rotary && is_one_of(kTables, words.back());
}

AttentionNames::AttentionNames(const ContractSet& contracts) {
  constexpr std::size_t kSaysLittle = 6;
  const auto add = [&](const std::string& spelling) {
    std::string name = spelling.substr(spelling.find_last_of(".:") + 1);
    if (name.size() > kSaysLittle && !says_only_how(name)) of_contracts_.insert(std::move(name));
  };
  for (const Api& api : contracts.apis) {
    add(api.name);
    for (const std::string& each : api.spellings) add(each);
  }
}

bool AttentionNames::contains(std::string_view name) const {
  return is_named_like_attention(name) || of_contracts_.contains(name);
}

}  // namespace dtype_guard
