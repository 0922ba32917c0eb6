// The queries by rule, in the rules' precedence.
#include <algorithm>

#include "analyzer/flow/queries/query.h"
#include "rules/catalog/catalog.h"

namespace dtype_guard::flow {

const std::vector<Query>& queries() {
  static const std::vector<Query> all = [] {
    std::vector<Query> made = {
        {"discarded-cast", fits_discarded_cast, discarded_cast},
        {"dtype-guard-misses-promotion", fits_guard_misses_promotion},
        {"unregistered-buffer", fits_unregistered_buffer, plain_member},
        {"dlpack-dtype-mismatch", fits_dlpack_mismatch, wrong_description},
        {"kv-cache-dtype-mismatch", fits_kv_cache_mismatch},
        {"rotary-dtype-mismatch", fits_rotary_mismatch},
        {"attention-mask-dtype", fits_mask_dtype},
        {"autocast-fp32-operator", fits_autocast_fp32_operator},
        {"attention-implicit-promotion", fits_implicit_promotion},
        {"attention-mixed-dtypes", fits_mixed_dtypes},
        {"attention-unsupported-dtype", fits_unsupported_dtype},
        {"operator-mixed-dtypes", fits_operator_mixed_dtypes},
        {"silent-attention-fallback", fits_silent_fallback},
    };
    std::sort(made.begin(), made.end(),
              [](const Query& a, const Query& b) { return precedence(a.rule) < precedence(b.rule); });
    return made;
  }();
  return all;
}

}  // namespace dtype_guard::flow
