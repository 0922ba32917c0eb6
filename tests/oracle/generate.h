// Random programs over the instructions of the IR: one root, small functions that it calls, lambdas that it
// makes. Types are kept, so that most programs run to their end; dtypes are anything.
#pragma once

#include <cstdint>

#include "analyzer/flow/ir/ir.h"
#include "tests/oracle/interpreter/machine.h"
#include "tests/oracle/recipe.h"

namespace dtype_guard::oracle {

Recipe recipe_of(std::uint64_t seed);
// Of few statements that promote, and more calls: most findings of such programs get a fix.
Recipe fixable_recipe(std::uint64_t seed);
// Over the instructions that other programs do not have: library modules, dictionaries, calls of which an
// object decides what they run.
Recipe rare_recipe(std::uint64_t seed);
// Methods of a module that is made of others.
Recipe composed_recipe(std::uint64_t seed);
flow::Module generate(std::uint64_t seed, const Recipe& recipe);

// The program without what throws in every run under a setting, so that there is something behind it.
flow::Module mended(flow::Module program, const World& world);

// The program with a call of "probe" behind every instruction that has a result.
flow::Module with_probes(const flow::Module& module);

}  // namespace dtype_guard::oracle
