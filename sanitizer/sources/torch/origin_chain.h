// The operators through which a tensor came by its dtype, the last first: up to four numbers of sites
// (sites.h). Small enough to be copied with each operator.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/protocol/journal.h"
#include "sanitizer/sources/torch/scalar_types.h"

namespace dtype_guard::san::torch {

// A site's number with what it did to dtypes in the high bits; 0: none.
enum class SiteKind : std::uint32_t {
  kMade = 0,   // a factory, or of integers
  kCast = 1,   // of operands of one other floating dtype
  kMixed = 2,  // of operands of several floating dtypes: the wider one was implied
  kUsed = 3,   // not made there but used first, and in no chain
};
using SiteNumber = std::uint32_t;
inline constexpr std::uint32_t kSiteKindShift = 30;
constexpr SiteKind kind_of(SiteNumber site) { return static_cast<SiteKind>(site >> kSiteKindShift); }
constexpr std::uint32_t index_of(SiteNumber site) { return (site & ((1U << kSiteKindShift) - 1)) - 1; }
constexpr SiteNumber site_number(std::uint32_t index, SiteKind kind) {
  return (index + 1) | static_cast<std::uint32_t>(kind) << kSiteKindShift;
}

// What else is known of a tensor, for attention that is written by hand.
enum TensorFlag : std::uint8_t {
  kImplied = 1,     // an operator widened it, without being asked to, since the last projection by weights
  kScores = 2,      // a product of two activations
  kWideScores = 4,  // of which one was implied to be that wide
  kWeightsOfValues = 8,  // softmax of scores
  kCast = 16,            // a cast that is written widened it, since the last projection by weights
  kCastScores = 32,      // scores of which one was cast so
};

struct OriginChain {
  SiteNumber sites[kChainLength] = {};
  ScalarType dtype = 0;  // that the first of them gave
  std::uint8_t flags = 0;

  bool is_empty() const { return sites[0] == 0; }

  // How much it explains: an implied promotion more than a cast, that more than a factory.
  std::uint32_t weight() const { return is_empty() ? 0 : 1 + static_cast<std::uint32_t>(kind_of(sites[0])); }

  // With `site` in front. Where the chain is full the two oldest stay: the first promotion, from which the
  // others follow, and what gave its wide operand its dtype.
  OriginChain behind(SiteNumber site, ScalarType to) const {
    OriginChain longer;
    longer.dtype = to;
    longer.flags = flags;
    longer.sites[0] = site;
    if (sites[0] == site) {  // the same line again, in a loop
      for (std::size_t i = 1; i < kChainLength; ++i) longer.sites[i] = sites[i];
      return longer;
    }
    const std::size_t oldest = sites[kChainLength - 1] != 0 ? kChainLength - 2 : kChainLength;
    for (std::size_t i = 1; i < kChainLength; ++i) longer.sites[i] = sites[i < oldest ? i - 1 : i];
    return longer;
  }
};

}  // namespace dtype_guard::san::torch
