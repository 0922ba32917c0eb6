// What a pass over the program has found of one function after another. It hangs on the function's body, on
// which other functions and classes there are, and on no other body: where the program is linked anew with
// other bodies for some functions, what was found of the rest stays.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace dtype_guard::flow {

template <class Result>
class FunctionResults {
 public:
  explicit FunctionResults(std::size_t functions)
      : found_(std::make_shared<std::vector<std::unique_ptr<const Result>>>(functions)) {}
  // What `before` had, which is not to be asked again, but for these.
  FunctionResults(const FunctionResults& before, const std::vector<std::uint32_t>& bodies)
      : found_(before.found_) {
    for (const std::uint32_t each : bodies) (*found_)[each].reset();
  }
  // Found by `find()` when it is asked for the first time.
  template <class Find>
  const Result& of(std::uint32_t function, const Find& find) const {
    if (!(*found_)[function]) {
      auto result = std::make_unique<const Result>(find());
      (*found_)[function] = std::move(result);
    }
    return *(*found_)[function];
  }

 private:
  std::shared_ptr<std::vector<std::unique_ptr<const Result>>> found_;
};

}  // namespace dtype_guard::flow
