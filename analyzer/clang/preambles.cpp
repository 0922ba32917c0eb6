#include "analyzer/clang/preambles.h"

#include "analyzer/clang/preamble_run.h"

namespace dtype_guard::clang_front_end {

Preambles::Preambles() = default;
Preambles::~Preambles() = default;

void Preambles::keep_only(const std::set<std::string>& files) {
  const std::lock_guard lock(mutex_);
  std::erase_if(kept_, [&](const auto& each) { return !files.contains(each.first); });
}

bool Preambles::has(const std::string& file) const {
  const std::lock_guard lock(mutex_);
  return kept_.contains(file);
}

std::unique_ptr<Preamble> Preambles::take(const std::string& file) {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(file);
  return found == kept_.end() ? nullptr : std::move(kept_.extract(found).mapped());
}

void Preambles::keep(const std::string& file, std::unique_ptr<Preamble> preamble) {
  const std::lock_guard lock(mutex_);
  kept_[file] = std::move(preamble);
}

}  // namespace dtype_guard::clang_front_end
