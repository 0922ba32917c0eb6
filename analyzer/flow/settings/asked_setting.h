// The setting of an evaluation, which notes whether it was asked what it says: an evaluation that never asked
// gives the same in every setting.
#pragma once

#include "analyzer/flow/settings/precision_setting.h"

namespace dtype_guard::flow {

class AskedSetting {
 public:
  explicit AskedSetting(const PrecisionSetting& setting) : setting_(setting) {}
  AskedSetting(const AskedSetting&) = delete;
  AskedSetting& operator=(const AskedSetting&) = delete;

  // Only where something is decided by it: what it says is all that tells one setting from another.
  const PrecisionSetting& ask() const {
    was_asked_ = true;
    return setting_;
  }
  bool was_asked() const { return was_asked_; }

 private:
  const PrecisionSetting& setting_;
  mutable bool was_asked_ = false;
};

}  // namespace dtype_guard::flow
