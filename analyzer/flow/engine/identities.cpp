#include "analyzer/flow/engine/identities.h"

#include <fmt/format.h>

namespace dtype_guard::flow {

std::size_t Identities::Hash::operator()(const Place& place) const {
  constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;
  const auto& [context, site, sub] = place;
  std::uint64_t out = std::uint64_t{context} << 32U | static_cast<std::uint32_t>(sub);
  out = (out ^ reinterpret_cast<std::uintptr_t>(site)) * kMix;
  return out ^ (out >> 32U);
}

ContextId Identities::context(ContextId parent, const void* site) {
  const auto fresh = static_cast<ContextId>(contexts_.size() + 1);
  return contexts_.try_emplace({parent, site, 0}, fresh).first->second;
}

HeapId Identities::object(ContextId context, const void* site, int sub) {
  const auto fresh = static_cast<HeapId>(objects_.size() + 1);
  const HeapId id = objects_.try_emplace({context, site, sub}, fresh).first->second;
  if (in_round_) several_.insert(id);
  return id;
}

SymbolSets::Symbol Identities::symbol_number(ContextId context, const void* site, int sub) {
  const auto fresh = static_cast<SymbolSets::Symbol>(symbol_numbers_.size());
  return symbol_numbers_.try_emplace({context, site, sub}, fresh).first->second;
}

std::optional<SymbolSets::Symbol> Identities::known_symbol(ContextId context, const void* site,
                                                           int sub) const {
  const auto found = symbol_numbers_.find({context, site, sub});
  return found == symbol_numbers_.end() ? std::nullopt : std::optional(found->second);
}

SymbolSetId Identities::symbol(ContextId context, const void* site, int sub) {
  return symbols_.of(symbol_number(context, site, sub));
}

SymbolSetId Identities::choice(Nature nature, ContextId context, const void* site, int sub) {
  const SymbolSets::Symbol number = symbol_number(context, site, sub);
  symbols_.set_nature(number, nature);
  return symbols_.of(number);
}

// The tables' own addresses stand for places that no code is at.
SymbolSetId Identities::question(Nature nature, const std::string& text) {
  std::string key(1, static_cast<char>('0' + static_cast<int>(nature)));
  key.append(1, ' ').append(text);
  return choice(nature, 0, &questions_, questions_.try_emplace(key, questions_.size() + 1).first->second);
}

SymbolSetId Identities::of_field(Nature nature, HeapId object, std::int64_t field) {
  return choice(nature, object, &objects_, static_cast<int>(field));
}

SymbolSetId Identities::of_writer(Nature nature, HeapId object, std::uint32_t writer) {
  return choice(nature, object, &fields_, static_cast<int>(writer));
}

Value Identities::field_of_unknown(const Alternative& unknown, const std::string& name) {
  const SymbolSetId of = unknown.symbols;
  const bool of_setting = symbols_.rests_on(of, Nature::kSetting);
  if (unknown.truth != Truth::kSymbol || (!of_setting && !symbols_.rests_on(of, Nature::kArgument)))
    return Value::unknown(of);
  const Nature nature = of_setting ? Nature::kSetting : Nature::kArgument;
  return Value::unknown(question(nature, fmt::format("{} . {}", of, name)), Truth::kSymbol);
}

RankSymbol Identities::rank(ContextId context, const void* site, int sub) {
  const auto fresh = static_cast<RankSymbol>(ranks_.size() + 1);
  return ranks_.try_emplace({context, site, sub}, fresh).first->second;
}

Key Identities::field(const std::string& name) {
  const auto [known, is_new] = fields_.try_emplace(name, static_cast<std::int64_t>(fields_.size()));
  if (is_new) field_names_.push_back(name);
  return {Key::Kind::kField, known->second};
}

}  // namespace dtype_guard::flow
