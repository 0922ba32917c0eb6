// Which functions matter: those whose evaluation can come to a call that has a contract, or to a product of
// matrices, which may be attention by hand. In most files there are few, and the others need not be evaluated
// as roots.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/flow/program/program.h"

namespace dtype_guard::flow {

// Of `roots`, those from which a sink can be reached: through calls, lambdas that are made on the way, and
// those that the constructors of the objects that a root is given leave there.
std::vector<std::uint32_t> roots_that_reach_sinks(const Program& program,
                                                  const std::vector<std::uint32_t>& roots);

// The roots with the fewest calls between them and a sink first; those of one class that stand together stay
// so.
std::vector<std::uint32_t> nearest_first(const Program& program, const std::vector<std::uint32_t>& roots);

// Of `roots`, those that may run one of `functions`: through calls and lambdas, or to make an object that the
// root is given.
std::vector<std::uint32_t> roots_that_run(const FunctionIndex& index, const std::vector<std::uint32_t>& roots,
                                          const std::vector<std::uint32_t>& functions);
// The same, by what their own code calls by key: a method that is called by its name alone is a root itself.
std::vector<std::uint32_t> roots_that_call(const Program& program, const std::vector<std::uint32_t>& roots,
                                           const std::vector<std::uint32_t>& functions);

// Of `roots`, those that may have a value from one of `functions`: they call it, or are given an object made
// by one that does. What layers give when they are run are tensors: these count where they are called by key.
std::vector<std::uint32_t> roots_with_values_of(const Program& program,
                                                const std::vector<std::uint32_t>& roots,
                                                const std::vector<std::uint32_t>& functions);

}  // namespace dtype_guard::flow
